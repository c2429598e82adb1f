import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { nodeAnnotations, nodes } from '@slipway/api';
import { until, type WaitBound } from '@slipway/testing/wait';
import type { SystemdNode } from '@slipway/tools/nspawn';
import type { Fleet } from '../first-boot/fleet.ts';

type Annotation = keyof typeof nodeAnnotations;
type NodeAnnotations = Partial<Record<Annotation, string>>;

const DAEMON = 'machine-config-daemon.service';

/** One machine of the fleet as the controllers see it, and as somebody sees it who has logged in. */
export interface Worker {
  node: SystemdNode;
  /** What its Node object says. */
  says(): Promise<NodeAnnotations>;
  /** Resolves with what it says once that is so. */
  until(check: (said: NodeAnnotations) => boolean, what: string, bound?: WaitBound): Promise<NodeAnnotations>;
  /** As the rollout controller does: this is the config to have. */
  aim(config: string): Promise<void>;
  /** Has reached this config, with nothing to complain of. */
  done(config: string): Promise<NodeAnnotations>;
  /** Text of a file of the node; undefined where there is none. */
  file(path: string): Promise<string | undefined>;
  /** Resolves the moment that the check of the node's disk holds, as near to it as one gets. */
  seen(check: () => boolean | Promise<boolean>): Promise<void>;
  exists(path: string): boolean;
  /** Of the main process of a unit; 0 where none runs. */
  pidOf(unit: string): Promise<number>;
  /** SIGKILL. systemd would start it again after a while. */
  killDaemon(): Promise<void>;
  startDaemon(): Promise<void>;
  /** The most memory that the daemon's process has ever held, in MB; undefined where none runs. */
  readDaemonPeak(): Promise<number | undefined>;
  /** Every entry below a directory of the node: type, mode, owner, contents. */
  snapshot(directory: string): Promise<string>;
  journal(): Promise<string>;
}

export function createWorker({ client }: Fleet, node: SystemdNode): Worker {
  const name = { name: node.name };
  const annotate = async (annotations: Record<string, string>): Promise<void> => {
    await client.patch(nodes, name, { type: 'merge', body: { metadata: { annotations } } }, {});
  };
  const readAnnotations = async (): Promise<NodeAnnotations> => {
    const { annotations = {} } = (await client.get(nodes, name)).metadata;
    return Object.fromEntries(
      Object.entries(nodeAnnotations).flatMap(([short, long]) => {
        const value = annotations[long];
        return value === undefined ? [] : [[short, value]];
      }),
    );
  };
  const waitForAnnotations: Worker['until'] = (check, what, bound) =>
    until(async () => {
      const said = await readAnnotations();
      if (!check(said)) throw new Error(`${node.name}: expected ${what}, it says ${JSON.stringify(said)}`);
      return said;
    }, bound);
  const onNode = (path: string): string => join(node.root, path);
  const readPid = async (unit: string): Promise<number> => Number(await node.sh(`systemctl show -P MainPID ${unit}`));
  return {
    node,
    says: readAnnotations,
    until: waitForAnnotations,
    aim: (config) => annotate({ [nodeAnnotations.desiredConfig]: config }),
    done: (config) =>
      waitForAnnotations(
        ({ state, currentConfig }) => state === 'Done' && currentConfig === config,
        `Done at ${config}`,
      ),
    file: (path) => readFile(onNode(path), 'utf8').catch(() => undefined),
    exists: (path) => existsSync(onNode(path)),
    async seen(check) {
      const deadline = Date.now() + 20_000;
      while (!(await check())) {
        if (Date.now() > deadline) throw new Error(`${node.name}: it was not seen within 20 s`);
        await nextTurn();
      }
    },
    pidOf: readPid,
    async killDaemon() {
      await node.sh(`systemctl kill --kill-whom=main --signal=KILL ${DAEMON}`);
    },
    async startDaemon() {
      await node.sh(`systemctl reset-failed ${DAEMON}; systemctl start ${DAEMON}`);
    },
    async readDaemonPeak() {
      const pid = await readPid(DAEMON);
      const status = pid === 0 ? '' : await node.sh(`cat /proc/${pid}/status`);
      const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    },
    snapshot: (directory) =>
      node.sh(
        `find ${directory} -printf '%y %m %u:%g %p -> %l\\n' | sort; find ${directory} -type f -exec sha256sum {} + | sort -k2`,
      ),
    journal: () => node.sh(`journalctl --no-pager --output=cat -u ${DAEMON} | tail -n 30`),
  };
}
