// What the OS of a machine cannot become. It follows from the machine and the config alone, so the daemon reports it
// before a drain, and `slipway plan` before anything is applied.
import type { Node } from '@slipway/api';
import { osAbilityAnnotation } from '@slipway/api/names';
import { listNames } from '@slipway/base/text';
import { nameOfMachineConfig } from '../render/problem.ts';
import { computeOSChange, type OSChange } from './os-change.ts';
import type { PlannedConfig, UpdateRequest } from './plan-update.ts';
import type { UpdatePlan } from './update-plan.ts';

/** What the tools of an OS can change: `none` without rpm-ostree and bootc; packages only with rpm-ostree. */
const ABILITIES = ['all', 'image-and-kernel-arguments', 'none'] as const;
export type OSAbility = (typeof ABILITIES)[number];

export interface OSFacts {
  /** As kubelets report it, such as `Debian GNU/Linux 13 (trixie)`. '' if it is not known. */
  readonly name: string;
  /** Null: not known. */
  readonly ability: OSAbility | null;
  /** As Kubernetes names it, such as `arm64`. '' if it is not known. */
  readonly architecture: string;
}

export function readOSFacts({ metadata, status }: Pick<Node, 'metadata' | 'status'>): OSFacts {
  const { osImage: name = '', architecture = '' } = status?.nodeInfo ?? {};
  const reported = metadata.annotations?.[osAbilityAnnotation];
  return { name, architecture, ability: ABILITIES.find((ability) => ability === reported) ?? null };
}

export interface OSLimit {
  /** Of the MachineConfig, such as `spec.kernelType`. */
  readonly field: string;
  /** Human-readable: what the OS lacks. */
  readonly why: string;
}

/** Human-readable: the config, the fields, what the OS lacks, what to do. */
export function formatOSLimits({ name }: Pick<PlannedConfig, 'name'>, limits: readonly OSLimit[]): string {
  const reasons = limits.map(({ field, why }) => `${field}: ${why}`).join('; ');
  const settings = limits.length === 1 ? 'the setting' : 'these settings';
  return `${nameOfMachineConfig(name)}, ${reasons}. Remove ${settings} from the MachineConfigs of the pool, or move the machine to another pool`;
}

/** Why the OS of a machine cannot be updated to a config. */
export function findUpdateLimits(
  { changes }: Pick<UpdatePlan, 'changes'>,
  { current, desired }: Pick<UpdateRequest, 'current' | 'desired'>,
  os: OSFacts,
): OSLimit[] {
  const turnsOnFips = changes.some(
    (change) => change.kind === 'setting' && change.setting === 'fips' && change.after === 'true',
  );
  return [
    ...findOSLimits(computeOSChange(changes, current.spec, desired.spec) ?? {}, os),
    ...(turnsOnFips ? findFipsLimits(os) : []),
  ];
}

/** Why an OS cannot make a change. Empty: nothing is known that prevents it. */
export function findOSLimits(change: OSChange, os: OSFacts): OSLimit[] {
  switch (os.ability) {
    case 'none':
      return findManualParts(change, os);
    case 'image-and-kernel-arguments':
      return findPackages(change, os);
    case 'all':
    case null:
      return findKernelLimits(change, os);
  }
}

const subjectOf = ({ name }: OSFacts): string => name || 'the OS of this machine';

function findManualParts({ image, kernelArguments, extensions, kernelType }: OSChange, os: OSFacts): OSLimit[] {
  const parts = [
    { field: 'spec.osImageURL', noun: 'OS image', change: image },
    { field: 'spec.kernelArguments', noun: 'kernel arguments', change: kernelArguments },
    { field: 'spec.extensions', noun: 'extensions', change: extensions },
    { field: 'spec.kernelType', noun: 'kernel', change: kernelType },
  ];
  return parts.flatMap(({ field, noun, change }) => {
    if (change === undefined) return [];
    return [{ field, why: `${subjectOf(os)} has neither rpm-ostree nor bootc, so Slipway cannot change its ${noun}` }];
  });
}

const MAX_NAMES = 10;

function findPackages({ extensions, kernelType }: OSChange, os: OSFacts): OSLimit[] {
  const why = (what: string) =>
    `${subjectOf(os)} has bootc but not rpm-ostree, which installs packages, so Slipway cannot install ${what}`;
  const names = extensions?.after ?? [];
  const kernel = kernelType?.after ?? 'default';
  return [
    ...(names.length === 0
      ? []
      : [{ field: 'spec.extensions', why: why(`the extensions ${listNames(names, { max: MAX_NAMES })}`) }]),
    ...(kernel === 'default' ? [] : [{ field: 'spec.kernelType', why: why(`the kernel ${kernel}`) }]),
  ];
}

/** The extensions images of Enterprise Linux have these kernels for one architecture each. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['realtime', 'amd64'],
  ['64k-pages', 'arm64'],
]);

function findKernelLimits({ kernelType }: OSChange, os: OSFacts): OSLimit[] {
  const field = 'spec.kernelType';
  const kernel = kernelType?.after ?? 'default';
  const architecture = ARCHITECTURES.get(kernel);
  if (architecture === undefined) return [];
  if (isFedora(os)) return [{ field, why: `${os.name} has no kernel ${kernel}, only Enterprise Linux has it` }];
  if (['', architecture].includes(os.architecture)) return [];
  return [
    { field, why: `the kernel ${kernel} exists only for ${architecture}, and this machine is ${os.architecture}` },
  ];
}

const isFedora = ({ name }: OSFacts): boolean => /^Fedora\b/.test(name);

/** The initramfs of these two reads the field from the first config of the machine. */
const NO_FIPS =
  'ignores this field, so that a new machine does not get FIPS mode either: only Red Hat Enterprise Linux CoreOS and CentOS Stream CoreOS turn it on at their first boot';

/** Why FIPS mode cannot be had with an OS, not even on a new machine. On an unknown OS, nothing is known to prevent it. */
export function findFipsLimits(os: OSFacts): OSLimit[] {
  return os.ability === 'none' || isFedora(os) ? [{ field: 'spec.fips', why: `${subjectOf(os)} ${NO_FIPS}` }] : [];
}
