import {
  machineConfigPools,
  machineConfigs,
  poolLabel,
  remoteContentAnnotation,
  type Secret,
  secrets,
} from '@slipway/api';
import { digestOf, indexAnnotations, REMOTE_CONTENT_LABEL } from '@slipway/fleet/remote-content';
import type { Fetcher } from '@slipway/ignition';
import { resourceId } from '@slipway/kube';
import { customPool, ignitionConfig, machineConfig } from '@slipway/testing/builders';
import { expect, it } from 'vitest';
import { builtInController } from '../built-in-controller.ts';
import { remoteContentController } from '../remote-content/controller.ts';
import type { MemoryApi } from '../testing/simulation/memory-api.ts';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import type { Fate } from '../testing/simulation/wire.ts';
import { renderController } from './controller.ts';
import { renderedConfigsController } from './rendered-configs-controller.ts';

const POOL = 'infra';
const NAME = '50-afar';
const NAMESPACE = 'ours';
const CONTROLLER_VERSION = '1';
const HOUR = 3_600_000;

/** The content that a MachineConfig references, stage by stage; null: it is deleted. */
const STAGES = ['first', 'second', null] as const;
type Stage = (typeof STAGES)[number];

const buildSpec = (page: string) => ({
  config: ignitionConfig({
    storage: { files: [{ path: '/etc/afar', contents: { source: `http://afar.example/${page}` } }] },
  }),
});

interface Life {
  /** How often the process was started, and how many writes it tried. */
  readonly starts: number;
  readonly writes: number;
  readonly violations: readonly string[];
  /** Rendered configs, in order of creation. */
  readonly made: readonly string[];
  /** The objects at the end of each stage. */
  readonly ends: readonly object[];
  readonly fetches: number;
}

/**
 * A MachineConfig with remote content is rendered for a new pool, changed and deleted, and unused objects are
 * collected. At one write of the controllers their process dies.
 */
async function live(killAt: number, how: Fate): Promise<Life> {
  let fetches = 0;
  const fetch: Fetcher = ({ url }) => {
    fetches += 1;
    return Promise.resolve({ ok: true, bytes: Buffer.from(new URL(url).pathname.slice(1)) });
  };
  let writes = 0;
  const cluster = createCluster({
    seed: 3,
    controllers: () => [
      builtInController({ controllerVersion: CONTROLLER_VERSION }),
      remoteContentController({ namespace: NAMESPACE, fetch }),
      renderController({ namespace: NAMESPACE, controllerVersion: CONTROLLER_VERSION }),
      renderedConfigsController({ keep: 1 }),
    ],
    fateOf: () => {
      writes += 1;
      return writes === killAt ? how : 'lands';
    },
  });
  const { api, time, referee } = cluster;
  const made = watchRendered(api, (what) => referee.report(what));
  const ends: object[] = [];
  for (const stage of STAGES) {
    enter(api, stage);
    for (const end = time.now() + HOUR; !isAtEnd(api, stage);) {
      if (time.now() > end) throw new Error(`killed at ${killAt} (${how}): the stage ${stage} did not come to its end`);
      await time.runUntil(time.now() + 1000);
      // Packing runs in other threads, in real time.
      await new Promise((resolve) => void setTimeout(resolve, 0));
    }
    ends.push(readState(api));
  }
  return { starts: cluster.starts, writes, violations: referee.violations, made, ends, fetches };
}

function enter(api: MemoryApi, stage: Stage): void {
  if (stage === null) api.delete(machineConfigs, { name: NAME });
  else if (api.find(machineConfigs, { name: NAME }) !== undefined) {
    api.patch(machineConfigs, { name: NAME }, { type: 'merge', body: { spec: buildSpec(stage) } });
  } else {
    api.create(machineConfigs, machineConfig(NAME, POOL, buildSpec(stage)));
    api.create(machineConfigPools, customPool(POOL));
  }
}

/** A pool never names a config that does not exist, and nothing is rendered twice. */
function watchRendered(api: MemoryApi, report: (what: string) => void): string[] {
  const made: string[] = [];
  api.onChange(({ resource, type, object }) => {
    const isRendered = object.metadata.labels?.[poolLabel] !== undefined;
    if (resourceId(resource) === resourceId(machineConfigs) && isRendered && type === 'ADDED')
      made.push(object.metadata.name);
    const target = api.find(machineConfigPools, { name: POOL })?.spec.configuration?.name;
    if (target !== undefined && api.find(machineConfigs, { name: target }) === undefined)
      report(`the pool names ${target}, which is not there`);
  });
  return made;
}

const renderedIn = (api: MemoryApi) =>
  api.list(machineConfigs).filter(({ metadata }) => metadata.labels?.[poolLabel] === POOL);

const secretsIn = (api: MemoryApi, kind: 'index' | 'chunk'): Secret[] =>
  api.list(secrets).filter(({ metadata }) => metadata.labels?.[REMOTE_CONTENT_LABEL] === kind);

/** The pool's only rendered config has the content of the stage, and every write up to it is done. */
function isAtEnd(api: MemoryApi, stage: Stage): boolean {
  const [rendered, ...others] = renderedIn(api);
  const target = api.get(machineConfigPools, { name: POOL }).spec.configuration?.name;
  if (rendered === undefined || others.length > 0 || rendered.metadata.name !== target) return false;
  const content = /data:,(first|second)"/.exec(JSON.stringify(rendered.spec))?.[1] ?? null;
  return content === stage && (stage === null ? api.list(secrets).length === 0 : isRemembered(api));
}

/** The MachineConfig references the only snapshot. */
function isRemembered(api: MemoryApi): boolean {
  const [digest, ...others] = secretsIn(api, 'chunk').map(digestOf);
  const { annotations = {} } = api.get(machineConfigs, { name: NAME }).metadata;
  return others.length === 0 && annotations[remoteContentAnnotation]?.endsWith(`/${digest}`) === true;
}

/** Everything that is left at the end, without times and UIDs. */
function readState(api: MemoryApi): object {
  const pool = api.get(machineConfigPools, { name: POOL });
  return {
    pool: { configuration: pool.spec.configuration, annotations: pool.metadata.annotations },
    rendered: renderedIn(api).map(({ metadata: { name, labels, annotations }, spec }) => ({
      name,
      labels,
      annotations,
      spec,
    })),
    chunks: secretsIn(api, 'chunk').map(({ metadata: { name }, data }) => ({ name, data })),
    indexes: secretsIn(api, 'index').map(({ metadata: { annotations = {} } }) => ({
      machineConfig: annotations[indexAnnotations.machineConfig],
      generation: annotations[indexAnnotations.generation],
      digest: annotations[indexAnnotations.digest],
      problems: annotations[indexAnnotations.problems],
    })),
  };
}

it('controllers killed between any two of their writes continue: each config is rendered once, none is lost, nothing is left over', async () => {
  const whole = await live(0, 'lands');
  expect(whole).toMatchObject({ starts: 1, violations: [], fetches: 2 });
  expect(whole.made.length).toBe(STAGES.length);
  let kills = 0;
  for (const how of ['dies before', 'dies after'] as const) {
    // The order and number of writes vary: repeat until no write is left to die at.
    for (let write = 1; ; write += 1) {
      const { starts, violations, made, ends, fetches } = await live(write, how);
      const outcome = { violations, made, ends, isFetchedTooOften: fetches > whole.fetches + 1 };
      expect(outcome, `killed at write ${write}: ${how}`).toEqual({
        violations: [],
        made: whole.made,
        ends: whole.ends,
        isFetchedTooOften: false,
      });
      if (starts === 1) break;
      kills += 1;
    }
  }
  expect(kills).toBeGreaterThanOrEqual(2 * 15);
  console.log(`${whole.writes} writes, ${kills} kills: the same rendered configs each time, nothing left over`);
}, 120_000);
