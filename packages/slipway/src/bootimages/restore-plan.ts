// How an earlier boot image is set again, in each of the two machine APIs. Reads, and writes nothing yet.
import { isDeepStrictEqual } from 'node:util';
import { clusterApiMachineSets, machineDeployments, machineSets } from '@slipway/api';
import {
  cloneTemplate,
  type ClusterApiMachines,
  type InfrastructureTemplate,
  isJsonObject,
  type JsonObject,
  type KeptImage,
  type MachineResource,
  machineTemplate,
  makeClone,
  type PatchStep,
  patchSteps,
  providerSpecPointer,
  replacementNote,
  type TemplateWriter,
} from '@slipway/fleet/boot-images';
import { type Client, createWriter, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { CommandError } from '../errors.ts';
import { defaultNamespace } from '../namespace.ts';
import { readCluster } from './read-cluster.ts';
import { createTemplateReader } from './read-template.ts';
import { resourceWords } from './resource-words.ts';
import { holdSteps, restorationTo } from './restoration.ts';

export interface RestorePlan {
  readonly object: Stored<KubeObject>;
  readonly image: string;
  readonly hold: string;
  /** What is patched; empty: it is so already. */
  readonly steps: readonly PatchStep[];
  /** What it means for machines that are there. */
  readonly note: string;
  /** What must be there before the patch. */
  prepare(): Promise<void>;
}

const UNTOUCHED = 'New machines boot it; those that exist are as they were.';

export const planRestore = (
  client: Client,
  resource: MachineResource,
  to: string,
  kept: readonly KeptImage[],
): Promise<RestorePlan> =>
  resource.api === 'machine.openshift.io'
    ? ofMachineApi(client, resource, to, kept)
    : ofClusterApi(client, resource, to, kept);

async function ofMachineApi(
  client: Client,
  resource: MachineResource,
  to: string,
  kept: readonly KeptImage[],
): Promise<RestorePlan> {
  const object = await client.get(machineSets, resource);
  const spec = providerSpec(resource, object.spec?.template?.spec?.providerSpec?.value);
  const { image, hold, spec: next } = restorationTo(to, { resource, spec, kept });
  return {
    object,
    image,
    hold,
    steps: [...patchSteps(spec, next, providerSpecPointer), ...holdSteps(object.metadata.annotations, hold)],
    note: UNTOUCHED,
    prepare: async () => {},
  };
}

/** Templates cannot be changed: one with the image is made, or found from before, and referred to. */
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
  // Of what it says only the region counts here, wherever Slipway runs.
  const { context } = await readCluster(client, defaultNamespace);
  const { machine, template } = await createTemplateReader(client, context)(resource, object);
  if (!machine.ok || template === null) throw noTemplate(resource, machine.ok ? '' : machine.message);
  const { image, hold, spec } = restorationTo(to, { resource, spec: machine.spec, kept });
  const isSame = isDeepStrictEqual(spec, machine.spec);
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
    note: noteOf(resource, object),
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

function noteOf({ kind }: MachineResource, { spec }: ClusterApiMachines): string {
  const note = replacementNote(kind, isJsonObject(spec) ? spec : undefined);
  return note === '' ? UNTOUCHED : `New machines boot it, and ${note}.`;
}

const noTemplate = (resource: MachineResource, message: string): CommandError =>
  new CommandError('SLW_CLI_BOOT_IMAGE', `${resourceWords(resource)}: ${message}; nothing was written`);

function providerSpec(resource: MachineResource, value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new CommandError(
    'SLW_CLI_BOOT_IMAGE',
    `${resourceWords(resource)}: spec.template.spec.providerSpec.value: expected an object with the image, found ${value === undefined ? 'nothing' : typeof value}; nothing was written`,
  );
}
