import {
  cordonedAnnotation,
  type MachineConfigPool,
  machineConfigPools,
  type MachineConfiguration,
  machineConfigurations,
  type Node,
  nodeAnnotations,
  nodes,
  rolloutStateAnnotation,
} from '@slipway/api';
import {
  type ControllerDef,
  type KubeObject,
  type Read,
  type Resource,
  resourceId,
  type Store,
  type Stored,
} from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { drainController } from '../../drain/drain.ts';
import { rolloutController } from '../../rollout/rollout.ts';
import { runScenario } from './rollout-scenario.ts';

const MOST_SEEDS = 80;

/** What the first broken promise of these controllers is, in some seed. */
async function foundIn(controllers: () => readonly ControllerDef[], wanted: RegExp): Promise<string> {
  for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
    const { violations } = await runScenario(seed, controllers);
    const found = violations.find((violation) => wanted.test(violation));
    if (found !== undefined) return found;
  }
  return `nothing in ${MOST_SEEDS} seeds`;
}

/** The real controller, on objects of one kind that are not what they are. */
function deceived<T extends KubeObject>(
  def: ControllerDef,
  resource: Resource<T>,
  lie: (object: Stored<T>) => Stored<T>,
): ControllerDef {
  const lies = new WeakMap<Stored<T>, Stored<T>>();
  const tell = (object: Stored<T>): Stored<T> => {
    const told = lies.get(object) ?? lie(object);
    lies.set(object, told);
    return told;
  };
  const deceive =
    (read: Read): Read =>
    (asked, which) => {
      const store = read(asked, which);
      if (resourceId(asked) !== resourceId(resource)) return store;
      return lyingStore(read(resource, which), tell) as Store<KubeObject> as typeof store;
    };
  return { ...def, reconcile: (key, context) => def.reconcile(key, { ...context, read: deceive(context.read) }) };
}

const lyingStore = <T extends KubeObject>(store: Store<T>, tell: (object: Stored<T>) => Stored<T>): Store<T> => ({
  size: store.size,
  get(key) {
    const object = store.get(key);
    return object === undefined ? undefined : tell(object);
  },
  values: () => Array.from(store.values(), tell).values(),
  byIndex: (index, value) => store.byIndex(index, value).map(tell),
});

const onPools = (lie: (pool: Stored<MachineConfigPool>) => Stored<MachineConfigPool>) => () => [
  deceived(rolloutController({}), machineConfigPools, lie),
  drainController(),
];

describe('the referee finds a rollout controller that', { timeout: 300_000 }, () => {
  it('takes no notice of maxUnavailable', async () => {
    const blind = onPools((pool) => ({ ...pool, spec: { ...pool.spec, maxUnavailable: '100%' } }));
    expect(await foundIn(blind, /taken out of service/)).toMatch(/where \d+ may be and \d+ were/);
  });

  it('does not wait until it sees what it has written', async () => {
    const forgetful = (): ControllerDef[] => [
      { ...rolloutController({}), reconcile: (key, context) => rolloutController({}).reconcile(key, context) },
      drainController(),
    ];
    expect(await foundIn(forgetful, /taken out of service/)).toMatch(/where \d+ may be and \d+ were/);
  });

  it('changes the machines of a paused pool', async () => {
    const deaf = onPools((pool) => ({ ...pool, spec: { ...pool.spec, paused: false } }));
    expect(await foundIn(deaf, /paused/)).toMatch(/while \w+ was paused/);
  });

  it('takes no notice of the stop switch', async () => {
    const unstopped = ({ metadata, ...rest }: Stored<MachineConfiguration>): Stored<MachineConfiguration> => ({
      ...rest,
      metadata: { ...metadata, annotations: {} },
    });
    const deaf = (): ControllerDef[] => [
      deceived(rolloutController({}), machineConfigurations, unstopped),
      drainController(),
    ];
    expect(await foundIn(deaf, /stopped/)).toMatch(/while rollouts were stopped/);
  });

  it('goes on after a halt', async () => {
    const careless = onPools((pool) => {
      const { [rolloutStateAnnotation]: state = 'null', ...rest } = pool.metadata.annotations ?? {};
      const remembered = JSON.parse(state) as object | null;
      if (remembered === null) return pool;
      const resumedAt = '2030-01-01T00:00:00.000Z';
      const annotations = {
        ...rest,
        [rolloutStateAnnotation]: JSON.stringify({ ...remembered, halted: null, resumedAt }),
      };
      return { ...pool, metadata: { ...pool.metadata, annotations } };
    });
    expect(await foundIn(careless, /halted|changed nothing/)).not.toMatch(/^nothing/);
  });
});

describe('the referee finds a drain controller that', { timeout: 300_000 }, () => {
  const onNodes = (lie: (node: Stored<Node>) => Stored<Node>) => () => [
    rolloutController({}),
    deceived(drainController(), nodes, lie),
  ];
  const annotated = (node: Stored<Node>, annotations: Record<string, string>): Stored<Node> => ({
    ...node,
    metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } },
  });

  it('uncordons what a person has cordoned', async () => {
    const greedy = onNodes((node) => annotated(node, { [cordonedAnnotation]: '2026-01-01T00:00:00Z' }));
    expect(await foundIn(greedy, /person/)).toMatch(/a person had cordoned it/);
  });

  it('drains a node that did not ask for it', async () => {
    const eager = onNodes((node) => annotated(node, { [nodeAnnotations.desiredDrain]: 'drain-rendered-worker-9999' }));
    expect(await foundIn(eager, /asked for/)).toMatch(/nobody asked for a drain|was not asked for/);
  });
});
