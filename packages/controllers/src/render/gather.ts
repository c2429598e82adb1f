// What a pool's render starts from: its MachineConfigs in order, each made ready once and kept for as long as it is unchanged.
import {
  generatedByAnnotation,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  secrets,
} from '@slipway/api';
import {
  type CodedProblem,
  needsRemoteContent,
  type PreparedRender,
  prepareRender,
  type ReadInput,
  readMachineConfig,
  type RenderImages,
  selectMachineConfigs,
} from '@slipway/fleet';
import { indexName, loadSnapshot, type Snapshot, readSnapshotState } from '@slipway/fleet/remote-content';
import type { Client, StoreReader, Stored } from '@slipway/kube';

interface Ready {
  digest: string;
  result: ReadInput;
}

/** By the object itself: a changed one is another object, and what was made from an old one goes with it. */
export type ReadyConfigs = WeakMap<Stored<MachineConfig>, Ready>;

interface Sources {
  read: StoreReader;
  client: Client;
  namespace: string;
  signal: AbortSignal;
  ready: ReadyConfigs;
  /** The operator's own MachineConfigs as this version brings them. */
  builtIn: readonly MachineConfig[];
  controllerVersion: string;
}

/** `images`: null where nobody has said yet which ones. */
export function prepare(
  pool: MachineConfigPool,
  images: RenderImages | null,
  sources: Sources,
): Promise<PreparedRender<Stored<MachineConfig>>> {
  return prepareRender(pool, {
    machineConfigs: sources.read(machineConfigs, { as: 'full' }).values(),
    read: (machineConfig) => makeReady(machineConfig, sources),
    missing: missingBase(pool, sources),
    images,
    controllerVersion: sources.controllerVersion,
  });
}

/** The pools that a MachineConfig concerns. */
export function poolsSelecting(machineConfig: MachineConfig, read: StoreReader): string[] {
  return [...read(machineConfigPools).values()]
    .filter((pool) => selectMachineConfigs(pool, [machineConfig]).length > 0)
    .map(({ metadata }) => metadata.name);
}

/** Without its base a pool would lose what its machines cannot be without: for as long as it is being made, nothing is rendered. */
function missingBase(pool: MachineConfigPool, { read, builtIn }: Sources): string[] {
  const given = read(machineConfigs, { as: 'full' });
  const isThere = ({ metadata }: MachineConfig): boolean =>
    given.get(metadata.name)?.metadata.annotations?.[generatedByAnnotation] ===
    metadata.annotations?.[generatedByAnnotation];
  return selectMachineConfigs(pool, builtIn)
    .filter((each) => !isThere(each))
    .map(({ metadata }) => metadata.name);
}

async function makeReady(machineConfig: Stored<MachineConfig>, sources: Sources): Promise<ReadInput | 'waiting'> {
  if (!needsRemoteContent(machineConfig)) {
    return keep(sources.ready, machineConfig, '', () => readMachineConfig(machineConfig));
  }
  const { namespace } = sources;
  const index = sources.read(secrets).get(`${namespace}/${indexName(machineConfig.metadata.uid)}`);
  const state = readSnapshotState(machineConfig, index);
  switch (state.state) {
    case 'pending':
      return 'waiting';
    case 'failed':
      return { ok: false, problems: state.problems.map(({ code, message }) => ({ code, message })) };
    case 'lost':
      return { ok: false, problems: [lostProblem(machineConfig, state.message)] };
    case 'ready':
      return readWithSnapshot(machineConfig, state, sources);
  }
}

async function readWithSnapshot(
  machineConfig: Stored<MachineConfig>,
  snapshot: Snapshot,
  { ready, client, namespace, signal }: Sources,
): Promise<ReadInput> {
  const known = ready.get(machineConfig);
  if (known?.digest === snapshot.digest) return known.result;
  const loaded = await loadSnapshot(client, namespace, snapshot, signal);
  if (!loaded.ok) return { ok: false, problems: [lostProblem(machineConfig, loaded.message)] };
  return keep(ready, machineConfig, snapshot.digest, () => readMachineConfig(machineConfig, loaded.config));
}

const lostProblem = ({ metadata }: MachineConfig, message: string): CodedProblem => ({
  code: 'SLW_REMOTE_CONTENT_LOST',
  message: `MachineConfig ${metadata.name}: ${message}`,
});

function keep(
  ready: ReadyConfigs,
  machineConfig: Stored<MachineConfig>,
  digest: string,
  make: () => ReadInput,
): ReadInput {
  const known = ready.get(machineConfig);
  if (known?.digest === digest) return known.result;
  const result = make();
  ready.set(machineConfig, { digest, result });
  return result;
}
