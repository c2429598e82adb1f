// The machine itself, whatever the cluster says: the config on its disk, what it remembers, and the updates of it.
import { createUpdater, type UpdateRequest, type UpdateResult, type UpdateStep } from './apply/updater.ts';
import { readCurrentConfig, writeCurrentConfig } from './current-config.ts';
import { readBaseline, recordBaseline } from './drift/baseline.ts';
import { verifyMachine } from './drift/verify-machine.ts';
import type { Drift } from './drift/drift.ts';
import type { Host } from './host/host.ts';
import { type NodeMemory, readMemory, writeMemory } from './node-memory.ts';
import type { StoredConfig } from './stored-config.ts';

export interface LocalNodeOptions {
  readonly host: Host;
  readonly programVersion: string;
  readonly onStep: (step: UpdateStep) => void | Promise<void>;
}

export interface LocalNode {
  /** What the disk is at; null: it was never told, or has forgotten. */
  current(): StoredConfig | null;
  memory(): NodeMemory;
  /** On the disk before it resolves; nothing is written where it is remembered already. */
  remember(memory: NodeMemory): Promise<void>;
  /** The machine is this config already: only its name is new. */
  adopt(config: StoredConfig): Promise<void>;
  verify(config: StoredConfig): Promise<Drift[]>;
  update(request: Omit<UpdateRequest, 'from'>): Promise<UpdateResult>;
  /** Ends what an earlier run was cut off in. */
  recover(): Promise<UpdateResult>;
}

export async function openLocalNode({ host, programVersion, onStep }: LocalNodeOptions): Promise<LocalNode> {
  const { files } = host;
  let current = await readCurrentConfig(files);
  let memory = await readMemory(files);
  const verify = (config: StoredConfig): Promise<Drift[]> => verifyMachine(host, config);
  const updater = createUpdater({ host, programVersion, onStep, verify });

  async function settle(result: UpdateResult): Promise<UpdateResult> {
    const previous = current;
    if (result.outcome === 'new') current = await readCurrentConfig(files);
    if (current !== null && isSettled(result)) await refreshBaseline(previous, current);
    return result;
  }

  /** Also after a crash between the end of an update and its baseline. */
  async function refreshBaseline(previous: StoredConfig | null, config: StoredConfig): Promise<void> {
    if ((await readBaseline(files))?.config === config.name) return;
    await recordBaseline(host, previous?.name === config.name ? null : previous, config);
  }

  return {
    current: () => current,
    memory: () => memory,
    async remember(next) {
      if (JSON.stringify(next) === JSON.stringify(memory)) return;
      await writeMemory(files, next);
      memory = next;
    },
    async adopt(config) {
      const previous = current;
      await writeCurrentConfig(files, config);
      current = config;
      await refreshBaseline(previous, config);
    },
    verify,
    async update(request) {
      if (current === null) throw new Error('an update starts from a config');
      return settle(await updater.apply({ ...request, from: current }));
    },
    async recover() {
      return settle(await updater.recover());
    },
  };
}

const isSettled = ({ outcome }: UpdateResult): boolean => outcome === 'none' || outcome === 'new';
