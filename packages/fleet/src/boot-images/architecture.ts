// The architecture of the machines of a MachineSet: from its labels, else the only one of its platform or cluster.
import { platformDef } from './platforms/index.ts';
import type { Architecture, Platform } from './verdict.ts';

/** On a MachineSet or MachineDeployment: the labels of future nodes, for scaling from zero. Providers set it. */
const CAPACITY_LABELS_ANNOTATION = 'capacity.cluster-autoscaler.kubernetes.io/labels';
const ARCHITECTURE_LABEL = 'kubernetes.io/arch';

const byKubernetesName: ReadonlyMap<string, Architecture> = new Map([
  ['amd64', 'x86_64'],
  ['arm64', 'aarch64'],
  ['ppc64le', 'ppc64le'],
  ['s390x', 's390x'],
]);

type Labels = Readonly<Record<string, string>> | undefined;

/** The fields of a MachineSet or MachineDeployment, of either API, that are read. */
export interface ArchitectureSource {
  readonly metadata?: { readonly annotations?: Labels; readonly labels?: Labels } | undefined;
  readonly spec?:
    | {
        readonly template?:
          | {
              readonly metadata?: { readonly labels?: Labels } | undefined;
              readonly spec?: { readonly metadata?: { readonly labels?: Labels } | undefined } | undefined;
            }
          | undefined;
      }
    | undefined;
}

export interface ArchitectureContext {
  readonly platform: Platform | null;
  /** ClusterVersion status.desired.architecture: `Multi`, or '' in a cluster of one architecture. */
  readonly clusterArchitecture: string;
  /** The controller's architecture, as Kubernetes names it: that of all machines unless the cluster is Multi. */
  readonly ownArchitecture: string;
}

type ArchitectureResult =
  | { readonly ok: true; readonly architecture: Architecture }
  /** `unsaid`: nothing specifies it. `wrong`: the value is unknown, or several values contradict each other. */
  | {
      readonly ok: false;
      readonly reason: 'unsaid' | 'wrong';
      readonly code: 'SLW_BOOT_IMAGES_ARCH';
      readonly message: string;
    };

export function detectArchitecture(machines: ArchitectureSource, context: ArchitectureContext): ArchitectureResult {
  const said = new Set(listArchitectures(machines));
  const [name, ...others] = said;
  if (others.length > 0) {
    return wrong(`expected one architecture, found ${[...said].map((one) => `"${one.slice(0, 40)}"`).join(' and ')}`);
  }
  if (name !== undefined) return named(name);
  const only = context.platform === null ? undefined : platformDef(context.platform).architecture;
  if (only !== undefined) return { ok: true, architecture: only };
  if (context.clusterArchitecture.toLowerCase() === 'multi') {
    return {
      ok: false,
      reason: 'unsaid',
      code: 'SLW_BOOT_IMAGES_ARCH',
      message: `annotation ${CAPACITY_LABELS_ANNOTATION}: expected ${ARCHITECTURE_LABEL}=… because the cluster has more than one architecture, found none. Set it to the architecture of the machines.`,
    };
  }
  return named(context.ownArchitecture);
}

function named(name: string): ArchitectureResult {
  const architecture = byKubernetesName.get(name);
  if (architecture !== undefined) return { ok: true, architecture };
  return wrong(`expected one of ${[...byKubernetesName.keys()].join(', ')}, found "${name.slice(0, 40)}"`);
}

const wrong = (what: string): ArchitectureResult => ({
  ok: false,
  reason: 'wrong',
  code: 'SLW_BOOT_IMAGES_ARCH',
  message: `${ARCHITECTURE_LABEL} in annotation ${CAPACITY_LABELS_ANNOTATION} or in labels: ${what}. Set it to the architecture of the machines.`,
});

function listArchitectures({ metadata = {}, spec = {} }: ArchitectureSource): string[] {
  const { template = {} } = spec;
  const labels = [metadata.labels, template.metadata?.labels, template.spec?.metadata?.labels];
  const inLabels = labels.flatMap((some) => some?.[ARCHITECTURE_LABEL] ?? []);
  return [...inCapacity(metadata.annotations?.[CAPACITY_LABELS_ANNOTATION] ?? ''), ...inLabels];
}

const inCapacity = (labels: string): string[] =>
  labels.split(',').flatMap((label) => {
    const [key = '', ...value] = label.split('=');
    return key.trim() === ARCHITECTURE_LABEL ? [value.join('=').trim()] : [];
  });
