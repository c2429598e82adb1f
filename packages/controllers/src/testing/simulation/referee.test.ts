import {
  cordonedAnnotation,
  type MachineConfigPool,
  machineConfigPools,
  type MachineConfiguration,
  machineConfigurations,
  type Node,
  nodeAnnotations,
  nodes,
} from '@slipway/api';
import {
  type ControllerDef,
  type KubeObject,
  type StoreReader,
  type Resource,
  resourceId,
  type Store,
  type Stored,
} from '@slipway/kube';
import { createRandom, type Random } from '@slipway/testing/random';
import { describe, expect, it } from 'vitest';
import { drainController } from '../../drain/controller.ts';
import { rolloutController } from '../../rollout/controller.ts';
import { runScenario } from './rollout-scenario.ts';

const MAX_SEEDS = 200;
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** The first broken promise of these controllers, in some seed. */
async function foundIn(controllers: () => readonly ControllerDef[], wanted: RegExp, most = MAX_SEEDS): Promise<string> {
  for (let seed = 1; seed <= most; seed += 1) {
    const { violations } = await runScenario(seed, controllers);
    const found = violations.find((violation) => wanted.test(violation));
    if (found !== undefined) return found;
  }
  return `nothing in ${most} seeds`;
}

/** The real controller, with falsified objects of one kind. */
function deceived<T extends KubeObject>(
  def: ControllerDef,
  resource: Resource<T>,
  lie: (object: Stored<T>) => Stored<T>,
): ControllerDef {
  const lies = new WeakMap<Stored<T>, Stored<T>>();
  const getLie = (object: Stored<T>): Stored<T> => {
    const told = lies.get(object) ?? lie(object);
    lies.set(object, told);
    return told;
  };
  const deceive =
    (read: StoreReader): StoreReader =>
    (asked, which) => {
      const store = read(asked, which);
      if (resourceId(asked) !== resourceId(resource)) return store;
      return lyingStore(read(resource, which), getLie) as Store<KubeObject> as typeof store;
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
  hasIndexed: (index, value) => store.hasIndexed(index, value),
});

const annotated = (node: Stored<Node>, annotations: Record<string, string>): Stored<Node> => ({
  ...node,
  metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } },
});

function withoutZone({ metadata }: Stored<Node>): Record<string, string> {
  const { [ZONE_LABEL]: _, ...labels } = metadata.labels ?? {};
  return labels;
}

const onPools = (lie: (pool: Stored<MachineConfigPool>) => Stored<MachineConfigPool>) => () => [
  deceived(rolloutController(), machineConfigPools, lie),
  drainController(),
];

describe('the referee finds a rollout controller that', { timeout: 300_000 }, () => {
  it('ignores maxUnavailable', async () => {
    const blind = onPools((pool) => ({ ...pool, spec: { ...pool.spec, maxUnavailable: '100%' } }));
    expect(await foundIn(blind, /made unavailable/)).toMatch(/where \d+ may be and \d+ were/);
  });

  // A decision on the same stale view chooses the same machines, and their versions refuse it. So the order is
  // shuffled.
  const shuffled = (def: ControllerDef, random: Random): ControllerDef =>
    deceived(def, nodes, (node) => {
      const creationTimestamp = new Date(random.int(0, 1e12)).toISOString();
      return { ...node, metadata: { ...node.metadata, labels: withoutZone(node), creationTimestamp } };
    });

  it('does not wait until it sees its own writes', async () => {
    const forgetful = (): ControllerDef[] => {
      const random = createRandom(1);
      const anew: ControllerDef['reconcile'] = (key, context) =>
        shuffled(rolloutController(), random).reconcile(key, context);
      return [{ ...rolloutController(), reconcile: anew }, drainController()];
    };
    expect(await foundIn(forgetful, /made unavailable/)).toMatch(/where \d+ may be and \d+ were/);
  });

  it('but not one that only uses another order', async () => {
    const remembering = (): ControllerDef[] => [shuffled(rolloutController(), createRandom(1)), drainController()];
    expect(await foundIn(remembering, /./, 30)).toBe('nothing in 30 seeds');
  });

  it('updates the machines of a paused pool', async () => {
    const deaf = onPools((pool) => ({ ...pool, spec: { ...pool.spec, paused: false } }));
    expect(await foundIn(deaf, /paused/)).toMatch(/while \w+ was paused/);
  });

  it('ignores the stop switch', async () => {
    const unstopped = ({ metadata, ...rest }: Stored<MachineConfiguration>): Stored<MachineConfiguration> => ({
      ...rest,
      metadata: { ...metadata, annotations: {} },
    });
    const deaf = (): ControllerDef[] => [
      deceived(rolloutController(), machineConfigurations, unstopped),
      drainController(),
    ];
    expect(await foundIn(deaf, /stopped/)).toMatch(/while rollouts were stopped/);
  });

  it('continues after a machine has failed', async () => {
    const careless = (): ControllerDef[] => [
      deceived(rolloutController(), nodes, (node) =>
        /Degraded|Unreconcilable/.test(node.metadata.annotations?.[nodeAnnotations.state] ?? '')
          ? annotated(node, { [nodeAnnotations.state]: 'Working' })
          : node,
      ),
      drainController(),
    ];
    expect(await foundIn(careless, /failed/)).toMatch(/though \S+ had failed to apply it/);
  });

  it('stops because a machine has drifted', async () => {
    const nervous = (): ControllerDef[] => [
      deceived(rolloutController(), nodes, (node) => {
        const why = node.metadata.annotations?.[nodeAnnotations.reason] ?? '';
        return why.endsWith('[SLW_DAEMON_DRIFT]') ? annotated(node, { [nodeAnnotations.reason]: `${why}.` }) : node;
      }),
      drainController(),
    ];
    expect(await foundIn(nervous, /drift/)).toMatch(/stopped by drift/);
  });
});

describe('the referee finds a drain controller that', { timeout: 300_000 }, () => {
  const onNodes = (lie: (node: Stored<Node>) => Stored<Node>) => () => [
    rolloutController(),
    deceived(drainController(), nodes, lie),
  ];

  it('uncordons a node that a user cordoned', async () => {
    const ours = { [cordonedAnnotation]: '2026-01-01T00:00:00Z' };
    const greedy = onNodes((node) => (node.spec?.unschedulable === true ? annotated(node, ours) : node));
    expect(await foundIn(greedy, /user/)).toMatch(/a user had cordoned it/);
  });

  it('drains a node that did not request it', async () => {
    const eager = onNodes((node) => annotated(node, { [nodeAnnotations.desiredDrain]: 'drain-rendered-worker-9999' }));
    expect(await foundIn(eager, /asked for|drain request/)).toMatch(/without a drain request|was not asked for/);
  });
});
