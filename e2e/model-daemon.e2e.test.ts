// The model of the daemon that simulated rollouts run on, beside the real daemon on a simulated machine: the same happens to
// both, and their Nodes have to say the same, in the same order.
import { machineConfigurations, type Node, nodeAnnotations, nodes } from '@slipway/api';
import { type Change, type MachineEnvironment, runMachine } from '@slipway/controllers/testing/simulation';
import { createInformer, type Informer, type Stored } from '@slipway/kube';
import { type MachineConfigSpec, specWithFiles } from '@slipway/testing/builders';
import { until } from '@slipway/testing/wait';
import { sampleCases } from '@slipway/testing/sample';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCluster, startDaemonCluster } from './daemon/cluster.ts';

const { currentConfig, desiredConfig, desiredDrain, lastAppliedDrain, reason, state } = nodeAnnotations;
const EMPTY: MachineConfigSpec = { config: { ignition: { version: '3.5.0' } } };
/** Free of cost by the built-in policy. */
const PULL_SECRET = '/var/lib/kubelet/config.json';
/** After a change of it a service is restarted that does not exist. */
const HOPELESS = '/etc/hopeless.conf';
const works = { isEmpty: false, needsDrain: false, reboots: false, end: 'works' } as const;

interface Case {
  readonly what: string;
  readonly target: MachineConfigSpec;
  /** For the model, what the real daemon finds out by itself. */
  readonly change: Change;
  /** When the node says this, it is told to go back to where it was. */
  readonly turnsRoundAt?: RegExp;
  /** What it says in the end. */
  readonly ends: RegExp;
}

const cases: readonly Case[] = [
  {
    what: 'an update with a drain and a reboot',
    target: { ...specWithFiles({ '/etc/app.conf': 'one\n' }), kernelArguments: ['nosmt'] },
    change: { ...works, needsDrain: true, reboots: true },
    ends: /^Done at target, asks uncordon-target$/,
  },
  {
    what: 'an update that costs nothing',
    target: specWithFiles({ [PULL_SECRET]: '{"auths":{}}' }),
    change: works,
    ends: /^Done at target$/,
  },
  {
    what: 'an update that fails and is undone',
    target: specWithFiles({ [HOPELESS]: 'x' }),
    change: { ...works, needsDrain: true, end: 'fails' },
    ends: /^Degraded at born, asks uncordon-born, says why$/,
  },
  {
    what: 'an update that cannot be applied at all',
    target: { config: { ignition: { version: '3.5.0' }, storage: { directories: [{ path: '/etc/new' }] } } },
    change: { ...works, end: 'is refused' },
    ends: /^Unreconcilable at born, says why$/,
  },
  {
    what: 'an update that is called back while it waits for its drain',
    target: { ...specWithFiles({ '/etc/app.conf': 'two\n' }), kernelArguments: ['quiet'] },
    change: { ...works, needsDrain: true, reboots: true },
    turnsRoundAt: /asks drain-target/,
    ends: /^Done at born, asks uncordon-born$/,
  },
];

let cluster: DaemonCluster;
let born: string;
let watched: Informer<Node>;
const ended = new AbortController();

beforeAll(async () => {
  cluster = await startDaemonCluster();
  born = await cluster.render(EMPTY);
  const actions = [{ type: 'Drain' }, { type: 'Restart', restart: { serviceName: 'missing.service' } }] as const;
  const nodeDisruptionPolicy = { files: [{ path: HOPELESS, actions: [...actions] }] };
  await cluster.operator.create(machineConfigurations, {
    metadata: { name: 'cluster' },
    spec: { nodeDisruptionPolicy },
  });
  watched = createInformer<Node>(cluster.operator.transport, { resource: nodes });
  watched.start(ended.signal);
  await watched.synced;
}, 120_000);
afterAll(async () => {
  ended.abort();
  await cluster?.stop();
}, 60_000);

async function annotate(name: string, annotations: Record<string, string>): Promise<void> {
  await cluster.operator.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});
}

/** In words, with the names of the configs by their part in the case. */
function describeNode({ metadata }: Stored<Node>, target: string): string {
  const annotations = metadata.annotations ?? {};
  const named = (text: string): string => text.replace(target, 'target').replace(born, 'born');
  const asks = annotations[desiredDrain];
  return [
    `${annotations[state]} at ${named(annotations[currentConfig] ?? '')}`,
    ...(asks === undefined ? [] : [`asks ${named(asks)}`]),
    ...((annotations[reason] ?? '') === '' ? [] : ['says why']),
  ].join(', ');
}

/** What the controllers do about what a node says: they answer a drain at once, or call the update back. */
async function respond(name: string, says: string, { turnsRoundAt }: Case): Promise<void> {
  const { [desiredDrain]: asks = '', [lastAppliedDrain]: has = '' } =
    watched.store.get(name)?.metadata.annotations ?? {};
  if (turnsRoundAt?.test(says) === true) await annotate(name, { [desiredConfig]: born });
  else if (turnsRoundAt === undefined && asks !== has) await annotate(name, { [lastAppliedDrain]: asks });
}

interface Followed {
  /** What the node says since it has its target, each once; goes on to grow. */
  readonly said: readonly string[];
  stop(): void;
}

async function follow(name: string, target: string, each: Case): Promise<Followed> {
  const said: string[] = [];
  await until(() => {
    const { annotations = {} } = watched.store.get(name)?.metadata ?? {};
    expect(annotations).toMatchObject({ [state]: 'Done', [currentConfig]: born });
  });
  const stop = watched.onChange((change) => {
    if (change.type !== 'updated' || change.object.metadata.name !== name) return;
    const says = describeNode(change.object, target);
    // The first one is that it has a target, which it has not seen yet.
    if (says === (said.at(-1) ?? 'Done at born')) return;
    said.push(says);
    void respond(name, says, each);
  });
  await annotate(name, { [desiredConfig]: target });
  await until(() => expect(said.at(-1)).toMatch(each.ends));
  return { said, stop };
}

async function ofDaemon(name: string, target: string, each: Case): Promise<Followed> {
  const node = await cluster.makeNode(name, born);
  await annotate(name, { [desiredConfig]: born });
  node.start();
  return follow(name, target, each);
}

async function ofModel(name: string, target: string, each: Case): Promise<Followed> {
  await cluster.operator.create(nodes, { metadata: { name, annotations: { [desiredConfig]: born } } });
  await until(() => expect(watched.store.get(name)).toBeDefined());
  const site: MachineEnvironment = {
    after: (ms, happen) => void setTimeout(() => ended.signal.aborted || happen(), ms).unref(),
    read: async () => watched.store.get(name)?.metadata.annotations ?? {},
    say: (annotations) => annotate(name, annotations),
    setReady: async () => {},
    changeOf: () => each.change,
    takes: { notice: () => 10, prepare: () => 50, apply: () => 50, boot: () => 100 },
    isMissed: () => false,
  };
  const machine = runMachine(site, born);
  watched.onChange((change) => {
    if (change.type === 'updated' && change.object.metadata.name === name) machine.wake();
  });
  machine.wake();
  return follow(name, target, each);
}

describe('the model of the daemon says what the daemon says', () => {
  it.each(sampleCases('model', cases, 2 / 5))('of $what', async (each) => {
    const index = cases.indexOf(each);
    const target = await cluster.render(each.target);
    const real = await ofDaemon(`daemon-${index}`, target, each);
    const inTheEnd = [...real.said];
    const model = await ofModel(`model-${index}`, target, each);
    expect(model.said).toEqual(inTheEnd);
    // All that time the daemon had nothing to add.
    expect(real.said).toEqual(inTheEnd);
    model.stop();
    real.stop();
  });
});
