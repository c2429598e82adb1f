import { bootImageHoldAnnotation, clusterApiMachineSets, machineDeployments, machineSets } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import {
  cloneTemplate,
  type ClusterApiMachines,
  holdSteps,
  type InfrastructureTemplate,
  isJsonObject,
  type KeptImage,
  type MachineResource,
  machineTemplate,
  makeClone,
  type PatchStep,
  patchSteps,
  PROVIDER_SPEC_POINTER,
  readMachineSpec,
  releaseSteps,
  replacementNote,
  resourceWords,
  type Restoration,
  type RestorationFacts,
  restorationTo,
  type TemplateWriter,
} from '@slipway/fleet/boot-images';
import { readKeptImages } from '@slipway/fleet/reports';
import { type Client, createWriter, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { createCliWriter } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';
import { type Io, writeLines } from '../cli/io.ts';
import { DEFAULT_NAMESPACE } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { withCluster } from '../cli/run.ts';
import { readHistories } from './history.ts';
import { allResources, type MachineNamespaces, readMachines, theOne, toResource } from './machine-resources.ts';
import { readCluster } from './read-cluster.ts';
import { createTemplateReader } from './verdicts.ts';

export interface RestoreOptions extends ClusterOptions, MachineNamespaces {
  namespace?: string;
  api?: 'mapi' | 'capi';
  to?: string;
  release?: boolean;
  dryRun?: boolean;
}

export async function runRestore(name: string, options: RestoreOptions, io: Io): Promise<void> {
  const { to, release = false } = options;
  if ((to === undefined) !== release) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      `slipway bootimages restore: expected either --to VERSION or --release, found ${release ? 'both' : 'neither'}. slipway bootimages history ${name} shows the versions`,
    );
  }
  await withCluster(options, io, async (client) => {
    const { namespace, api } = options;
    const resource = theOne({ name, namespace, api }, allResources(await readMachines(client, options)));
    const lines = await (to === undefined
      ? releaseIt(client, resource, options)
      : restoreIt(client, resource, to, options));
    await writeLines(io.stdout, lines);
  });
}

async function restoreIt(
  client: Client,
  resource: MachineResource,
  to: string,
  options: RestoreOptions,
): Promise<string[]> {
  const { name, namespace, api } = resource;
  const which = { name, namespace, api: api === 'machine.openshift.io' ? 'mapi' : 'capi' } as const;
  const histories = await readHistories(client, which, options);
  const plan = await planRestore(client, resource, to, histories.flatMap(readKeptImages));
  const { dryRun = false } = options;
  if (plan.steps.length > 0 && !dryRun) {
    await plan.prepare();
    await change(client, plan.object, resource, plan.steps);
  }
  return formatRestored(resource, plan, dryRun);
}

function formatRestored(
  resource: MachineResource,
  { image, hold, steps, note }: RestorePlan,
  dryRun: boolean,
): string[] {
  const what = resourceWords(resource);
  if (steps.length === 0) return [`${what} already has image ${image} and is held there. Nothing was written.`];
  const lines = steps.map((step) => `  ${step.path}: ${'value' in step ? JSON.stringify(step.value) : 'removed'}`);
  if (dryRun) {
    return [
      `${what} would get image ${image} and be held at ${hold}:`,
      ...lines,
      note,
      'Nothing was written (--dry-run).',
    ];
  }
  return [
    `${what} has image ${image} and is held at ${hold}:`,
    ...lines,
    `${note} To end the hold: slipway bootimages restore ${resource.name} --release`,
  ];
}

async function releaseIt(
  client: Client,
  resource: MachineResource,
  { dryRun = false }: RestoreOptions,
): Promise<string[]> {
  const object = await client.get(toResource(resource), resource);
  const held = object.metadata.annotations?.[bootImageHoldAnnotation];
  const what = resourceWords(resource);
  if (held === undefined) return [`${what} is not held. Nothing was written.`];
  if (dryRun) return [`${what} is held at ${held}; its hold would end. Nothing was written (--dry-run).`];
  await change(client, object, resource, releaseSteps(object.metadata.annotations));
  return [
    `${what} is no longer held at ${held}. If it is opted in, the controllers update its boot image again. slipway bootimages shows it.`,
  ];
}

/** Not retried on a conflict: the change of the other client may contradict this one. */
async function change(
  client: Client,
  object: Stored<KubeObject>,
  resource: MachineResource,
  steps: readonly PatchStep[],
): Promise<void> {
  try {
    await createCliWriter(client).jsonPatch(toResource(resource), object, steps);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    throw new CommandError(
      'SLW_CLI_BOOT_IMAGE',
      `${resourceWords(resource)}: another client changed it in the meantime. Nothing was written. Run the command again`,
      { cause: error },
    );
  }
}

export interface RestorePlan {
  readonly object: Stored<KubeObject>;
  readonly image: string;
  readonly hold: string;
  /** The patch; empty: nothing has to change. */
  readonly steps: readonly PatchStep[];
  /** What it means for existing machines. */
  readonly note: string;
  /** Creates what must exist before the patch. */
  prepare(): Promise<void>;
}

const UNTOUCHED = 'New machines boot it; existing machines do not change.';

export const planRestore = (
  client: Client,
  resource: MachineResource,
  to: string,
  kept: readonly KeptImage[],
): Promise<RestorePlan> =>
  resource.api === 'machine.openshift.io'
    ? ofMachineApi(client, resource, to, kept)
    : ofClusterApi(client, resource, to, kept);

function restoration(to: string, facts: RestorationFacts): Restoration {
  const found = restorationTo(to, facts);
  if (found.ok) return found.restoration;
  throw new CommandError('SLW_CLI_BOOT_IMAGE', found.problem);
}

async function ofMachineApi(
  client: Client,
  resource: MachineResource,
  to: string,
  kept: readonly KeptImage[],
): Promise<RestorePlan> {
  const object = await client.get(machineSets, resource);
  const machine = readMachineSpec(object);
  if (!machine.ok) throw unreadable(resource, machine.message);
  const { spec, imagePaths } = machine;
  const { image, hold, spec: next } = restoration(to, { resource, spec, imagePaths, kept });
  return {
    object,
    image,
    hold,
    steps: [...patchSteps(spec, next, PROVIDER_SPEC_POINTER), ...holdSteps(object.metadata.annotations, hold)],
    note: UNTOUCHED,
    prepare: async () => {},
  };
}

/** Templates are immutable, so a template with the image is created or reused, and the resource refers to it. */
async function ofClusterApi(
  client: Client,
  resource: MachineResource,
  to: string,
  kept: readonly KeptImage[],
): Promise<RestorePlan> {
  const object: Stored<ClusterApiMachines> =
    resource.kind === 'MachineSet'
      ? await client.get(clusterApiMachineSets, resource)
      : await client.get(machineDeployments, resource);
  // Only the region matters here, so the namespace of Slipway does not.
  const { context } = await readCluster(client, DEFAULT_NAMESPACE);
  const { machine, template } = await createTemplateReader(client, context)(resource, object);
  if (!machine.ok || template === null) throw unreadable(resource, machine.ok ? '' : machine.message);
  const { imagePaths } = machine;
  const { image, hold, spec } = restoration(to, { resource, spec: machine.spec, imagePaths, kept });
  const isSame = isEqual(spec, machine.spec);
  const clone = isSame ? null : cloneTemplate(machineTemplate(template.object, template.resource), spec);
  const path = '/spec/template/spec/infrastructureRef/name';
  return {
    object,
    image,
    hold,
    steps: [
      ...(clone === null ? [] : [{ op: 'replace', path, value: clone.metadata.name } as const]),
      ...holdSteps(object.metadata.annotations, hold),
    ],
    note: formatNote(resource, object),
    prepare: async () => (clone === null ? undefined : makeClone(clone, templateWriter(client, template.resource))),
  };
}

function templateWriter(client: Client, resource: Resource<InfrastructureTemplate>): TemplateWriter {
  const write = createWriter(client, { fieldManager: 'slipway-boot-images' });
  return {
    create: async (template) => (await write.createIfAbsent(resource, template)) !== undefined,
    get: (name) => client.get(resource, name),
  };
}

function formatNote({ kind }: MachineResource, { spec }: ClusterApiMachines): string {
  const note = replacementNote(kind, isJsonObject(spec) ? spec : undefined);
  return note === '' ? UNTOUCHED : `New machines boot it, and ${note}.`;
}

const unreadable = (resource: MachineResource, message: string): CommandError =>
  new CommandError('SLW_CLI_BOOT_IMAGE', `${resourceWords(resource)}: ${message}. Nothing was written`);
