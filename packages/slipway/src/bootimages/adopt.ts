// Lets Slipway replace images that it does not know, such as those of a cluster that is older than Slipway.
import { bootImageAdoptAnnotation } from '@slipway/api';
import {
  annotationSteps,
  isJsonObject,
  keyOfMachines,
  type MachineResource,
  replacementNote,
  resourceWords,
} from '@slipway/fleet/boot-images';
import type { BootImageEntry } from '@slipway/fleet/reports';
import { type Client, type KubeObject, retryOnConflict } from '@slipway/kube';
import { createCliWriter, whereInstalled } from '../cli/cluster.ts';
import { confirm } from '../cli/confirm.ts';
import { type Io, toJson, write, writeArtifact, writeLines } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { withCluster } from '../cli/run.ts';
import { type Paint, paintFor, plain, safeLine, table } from '../cli/terminal.ts';
import { COLOURS, formatReason, resourceCell, shortBootImage } from './bootimages.ts';
import {
  isMeant,
  type MachineNamespaces,
  type Machines,
  ofClusterApi,
  ofMachineApi,
  readMachines,
  theOne,
  toResource,
  type Which,
} from './machine-resources.ts';
import { readCluster } from './read-cluster.ts';
import { readVerdicts } from './verdicts.ts';

export interface AdoptOptions extends ClusterOptions, MachineNamespaces, Omit<Which, 'name'> {
  readonly slipwayNamespace: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly output: 'table' | 'json';
}

/** `-o json` prints exactly this. */
export interface AdoptionReport {
  readonly dryRun: boolean;
  /** False as well if the user answers no. */
  readonly written: boolean;
  /** What is adopted, with the verdict that it has then. */
  readonly resources: readonly BootImageEntry[];
  /** What else to know. */
  readonly notes: readonly string[];
}

export const runAdopt = (names: readonly string[], options: AdoptOptions, io: Io): Promise<void> =>
  withCluster(options, io, async (client) => {
    const plan = await whereInstalled(client, () => planAdoption(client, names, options));
    const isText = options.output === 'table';
    if (isText) await write(io.stdout, adoptionText(plan, paintFor(io.stdout)));
    const isDue = !plan.dryRun && plan.resources.length > 0;
    const written = isDue && (await confirm('Let Slipway replace these images?', options, io));
    if (written) for (const { resource } of plan.resources) await adopt(client, resource);
    const report = { ...plan, written };
    if (isText) await writeLines(io.stdout, [formatResult(report)]);
    else await writeArtifact(io.stdout, toJson(report));
    if (isDue && !written) io.setExitCode(1);
  });

type AdoptionPlan = Omit<AdoptionReport, 'written'>;

async function planAdoption(client: Client, names: readonly string[], options: AdoptOptions): Promise<AdoptionPlan> {
  const machines = await readMachines(client, options);
  const cluster = await readCluster(client, options.slipwayNamespace);
  const before = await readVerdicts(client, machines, cluster);
  const chosen = new Set(chooseAdoptions(names, options, before).map(keyOfMachines));
  const adopted = await readVerdicts(client, withAdoptions(machines, chosen), cluster);
  const after = adopted.filter(({ resource }) => chosen.has(keyOfMachines(resource)));
  return { dryRun: options.dryRun === true, ...selectUseful(names, { before, after }, machines) };
}

/** `before`: everything. `after`: what was chosen, once it is adopted. */
export function selectUseful(
  names: readonly string[],
  { before, after }: { readonly before: readonly BootImageEntry[]; readonly after: readonly BootImageEntry[] },
  machines: Pick<Machines, 'machineDeployments'>,
): Omit<AdoptionPlan, 'dryRun'> {
  if (names.length > 0) return { resources: after, notes: listReplacements(after, machines) };
  const useless = after.filter(({ verdict }) => verdict === 'failed');
  return {
    resources: after.filter(({ verdict }) => verdict !== 'failed'),
    notes: [...useless.map(formatUseless), ...listLeftOut(before)],
  };
}

/** Such as a region for which the release has no image. */
const formatUseless = (entry: BootImageEntry): string =>
  `${resourceWords(entry.resource)} is not adopted, because it could not be updated: ${formatReason(entry)}`;

/** Without names, only MachineSets: a MachineDeployment replaces its machines when its image changes. */
export function chooseAdoptions(
  names: readonly string[],
  { namespace, api }: Omit<Which, 'name'>,
  entries: readonly Pick<BootImageEntry, 'resource' | 'isUnknown'>[],
): readonly MachineResource[] {
  if (names.length > 0) {
    const resources = entries.map(({ resource }) => resource);
    return names.map((name) => theOne({ name, namespace, api }, resources));
  }
  return entries
    .filter(({ resource, isUnknown }) => isUnknown && resource.kind === 'MachineSet')
    .map(({ resource }) => resource)
    .filter((resource) => isMeant({ name: resource.name, namespace, api }, resource));
}

/** The same objects with the annotation, to show what the controllers do then. */
function withAdoptions(machines: Machines, chosen: ReadonlySet<string>): Machines {
  const adopted =
    (resourceOf: (object: KubeObject) => MachineResource) =>
    <T extends KubeObject>(object: T): T => {
      if (!chosen.has(keyOfMachines(resourceOf(object)))) return object;
      const annotations = { ...object.metadata.annotations, [bootImageAdoptAnnotation]: 'true' };
      return { ...object, metadata: { ...object.metadata, annotations } };
    };
  return {
    ...machines,
    machineSets: machines.machineSets.map(adopted(ofMachineApi)),
    clusterApiMachineSets: machines.clusterApiMachineSets.map(adopted(ofClusterApi('MachineSet'))),
    machineDeployments: machines.machineDeployments.map(adopted(ofClusterApi('MachineDeployment'))),
  };
}

const listReplacements = (
  chosen: readonly BootImageEntry[],
  { machineDeployments }: Pick<Machines, 'machineDeployments'>,
): string[] =>
  chosen
    .filter(({ resource }) => resource.kind === 'MachineDeployment')
    .map(({ resource }) => {
      const spec = machineDeployments.find(({ metadata }) => metadata.name === resource.name)?.spec;
      return `${resourceWords(resource)}: ${replacementNote(resource.kind, isJsonObject(spec) ? spec : undefined)}`;
    });

const listLeftOut = (entries: readonly BootImageEntry[]): string[] =>
  entries
    .filter(({ resource, isUnknown }) => isUnknown && resource.kind === 'MachineDeployment')
    .map(
      ({ resource }) =>
        `${resourceWords(resource)} has an unknown image too. It replaces its machines when its image changes, so adopt it by name: slipway bootimages adopt ${resource.name}`,
    );

/** Writes nothing if it is adopted already. */
const adopt = (client: Client, resource: MachineResource): Promise<void> =>
  retryOnConflict(async () => {
    const object = await client.get(toResource(resource), resource);
    const steps = annotationSteps(object.metadata.annotations, { [bootImageAdoptAnnotation]: 'true' });
    if (steps.length > 0) await createCliWriter(client).jsonPatch(toResource(resource), object, steps);
  });

export function adoptionText({ resources, notes }: Omit<AdoptionPlan, 'dryRun'>, paint: Paint = plain): string {
  const platforms = [...new Set(resources.map(({ platform }) => platform).filter((name) => name !== null))];
  const pages = platforms.map((platform) => `docs/boot-images/${platform}.md`).join(', ');
  const check =
    pages === ''
      ? []
      : [
          `Check first that releases shipped these images: Slipway replaces any image of what is adopted. See ${pages}.`,
        ];
  return [
    ...(resources.length === 0 ? [] : [adoptionTable(resources, paint)]),
    ...[...check, ...notes].map((line) => `${safeLine(line)}\n`),
  ].join('');
}

const adoptionTable = (resources: readonly BootImageEntry[], paint: Paint): string =>
  table(
    ['MACHINESET', 'IMAGE', '→ TARGET', 'THEN', 'WHY'],
    resources.map((entry) => [
      resourceCell(entry),
      shortBootImage(entry.image) || '-',
      shortBootImage(entry.target) || '-',
      { text: entry.verdict, colour: COLOURS[entry.verdict] },
      formatReason(entry),
    ]),
    paint,
  );

function formatResult({ dryRun, written, resources }: AdoptionReport): string {
  if (resources.length === 0) return 'There is nothing to adopt. Nothing was written.';
  if (dryRun) return 'Nothing was written (--dry-run).';
  if (!written) return 'Nothing was written.';
  return `Adopted: ${resources.length}. Existing machines of MachineSets do not change. slipway bootimages shows the progress; once the verdict is current, the annotation ${bootImageAdoptAnnotation} is not needed any longer.`;
}
