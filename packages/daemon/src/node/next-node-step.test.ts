import type { UpdatePlan } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import type { PassedPreflight } from '../apply/preflight.ts';
import type { UpdateResult } from '../apply/updater.ts';
import type { NodeMemory } from './local-node.ts';
import {
  decideConfig,
  ANSWER_TTL_MS,
  nextNodeStep,
  type NodeFacts,
  type NodeStep,
  recordAnswer,
  type ObservedNode,
  type PrepareRefusal,
  findValidAnswer,
  createStepState,
  type StepState,
} from './next-node-step.ts';
import type { PrepareResult } from './prepare-update.ts';
import { inOneLine } from './testing/node-in-cluster.ts';

const NOW = 1_000_000;
const broken = { code: 'SLW_DAEMON_UNIT', message: 'app.service does not start' };
const full = { code: 'SLW_DAEMON_DISK', message: 'no space left on device' };
const noOS = { code: 'SLW_DAEMON_OS', message: 'no such image', retry: false };
const busyOS = { code: 'SLW_DAEMON_OS', message: 'another change is in progress', retry: true };
const lacks = [
  { code: 'SLW_UPDATE_IRRECONCILABLE', field: 'spec.x', before: null, after: '1', message: 'no' },
] as const;

interface StepInput {
  readonly observed?: Partial<Omit<ObservedNode, 'said'>>;
  readonly said?: Partial<ObservedNode['said']>;
  readonly state?: Partial<StepState>;
}

function computeStep({ observed, said, state }: StepInput): NodeStep {
  return nextNodeStep(
    {
      now: NOW,
      current: 'a',
      memory: {},
      settings: undefined,
      isForced: false,
      drift: '',
      ...observed,
      said: {
        currentConfig: 'a',
        desiredConfig: 'a',
        desiredDrain: null,
        lastAppliedDrain: null,
        drainBlocked: '',
        ...said,
      },
    },
    { ...createStepState({ outcome: 'none' }), ...state },
  );
}

/** The step in one line: the action, the report, and when the next step is. */
function told({ action }: NodeStep): string {
  const words = [action.type as string];
  if (action.isOSFailure === true) words.push('counted as a failure of the OS');
  if (action.type === 'report') {
    const nothing = { currentConfig: 'a', desiredConfig: null, phase: 'idle', update: null, problem: null } as const;
    words.push(inOneLine({ ...nothing, desiredDrain: null, irreconcilable: [], ...action.snapshot }));
    if (action.endsUpdate === true) words.push('the update is over');
  }
  if (action.type === 'prepare') {
    words.push(action.target);
    for (const flag of ['isForced', 'isPrepared', 'isDrained', 'isTold'] as const) if (action[flag]) words.push(flag);
  }
  if (action.type === 'adopt') words.push(action.config.name);
  if (action.type === 'apply') words.push(action.update.to.name, ...(action.takesForceFile ? ['forced'] : []));
  if ('next' in action && action.next.type === 'again') words.push(`again in ${action.next.afterMs} ms`);
  return words.join('; ');
}

const ended = (result: UpdateResult, state: Partial<StepState> = {}): StepInput => ({
  observed: { memory: { reported: 'a', held: 'x', failed: { target: 'x', problem: broken }, willLack: lacks } },
  state: { ...state, ended: result },
});
const old = (problem: typeof broken, rebooting = false): UpdateResult => {
  return { outcome: 'old', config: 'a', target: 'b', problem, rebooting };
};

type Row = readonly [string, StepInput, string];
const rows = (table: readonly Row[]) =>
  it.each<Row>(table)('%s', (_, given, expected) => {
    expect(told(computeStep(given))).toBe(expected);
  });

describe('the end of an update', () => {
  rows([
    ['before a shutdown: nothing more is done', { state: { goesDown: true }, said: { desiredConfig: 'b' } }, 'wait'],
    ['with a reboot: reported', ended({ outcome: 'rebooting', config: 'b' }), 'report; a: rebooting'],
    [
      'at neither config: reported, and recovered later',
      ended({ outcome: 'stuck', from: 'a', to: 'b', problem: full }),
      'report; unknown: applying files, Degraded SLW_DAEMON_DISK; again in 30000 ms',
    ],
    ['at neither config: recovered before anything else', { state: { isUnfinished: true } }, 'recover'],
    ['without any change: drift detection resumes', ended({ outcome: 'none' }), 'conclude'],
    ['at the new config: drift detection resumes', ended({ outcome: 'new', config: 'b' }), 'conclude'],
    ['at the old config: drift detection resumes', ended(old(broken)), 'conclude'],
    ['at the old config because of the OS: counted', ended(old(noOS)), 'conclude; counted as a failure of the OS'],
    [
      'in a rollback with a reboot: reported, with the reason',
      ended(old(broken, true)),
      'report; a: rebooting, Degraded SLW_DAEMON_UNIT (under way)',
    ],
  ]);

  it.each<[string, UpdateResult, NodeMemory]>([
    ['new: earlier failures are forgotten', { outcome: 'new', config: 'b' }, { reported: 'a', lacks }],
    ['old: the reason is remembered', old(broken), { reported: 'a', failed: { target: 'b', problem: broken } }],
    [
      'old with a reboot: the reason is remembered too',
      old(broken, true),
      { reported: 'a', failed: { target: 'b', problem: broken } },
    ],
    [
      'old for a temporary reason: the attempts are counted',
      old(full),
      { reported: 'a', failed: { target: 'b', problem: full, tries: 1 } },
    ],
    [
      'old because the OS is busy: the attempts are counted',
      old(busyOS),
      { reported: 'a', failed: { target: 'b', problem: busyOS, tries: 1 } },
    ],
    [
      'old for a temporary reason with a reboot: it is counted after the reboot',
      old(full, true),
      { reported: 'a', failed: { target: 'b', problem: full, tries: 0 } },
    ],
  ])('%s', (_, result, memory) => {
    expect(computeStep(ended(result)).action.memory).toEqual(memory);
  });

  it.each<[string, StepInput, Partial<StepState>]>([
    ['a reboot is the last action', ended({ outcome: 'rebooting', config: 'b' }), { ended: null, goesDown: true }],
    ['so is the reboot of a rollback', ended(old(broken, true)), { ended: null, goesDown: true }],
    [
      'at neither config it is unfinished, whether or not the report succeeds',
      ended({ outcome: 'stuck', from: 'a', to: 'b', problem: full }),
      { ended: null, isUnfinished: true },
    ],
    [
      'a recovered one is finished',
      ended({ outcome: 'new', config: 'b' }, { isUnfinished: true }),
      { isUnfinished: false },
    ],
    ['and so is one that changed nothing', ended({ outcome: 'none' }, { isUnfinished: true }), { isUnfinished: false }],
    ['a temporary reason is retried later', ended(old(full)), { retryAt: NOW + 60_000 }],
    ['a busy OS too', ended(old(busyOS)), { retryAt: NOW + 60_000 }],
    ['any other reason is not', ended(old(broken), { retryAt: NOW }), { retryAt: null }],
  ])('%s', (_, given, state) => {
    expect(computeStep(given).state).toMatchObject(state);
  });

  it('for a temporary reason is retried after a minute, then with backoff, at least every half hour', () => {
    const waits: number[] = [];
    let memory: NodeMemory = {};
    for (let tries = 0; tries < 8; tries += 1) {
      const { action, state } = computeStep({ observed: { memory }, state: { ended: old(busyOS) } });
      memory = action.memory ?? {};
      waits.push(((state.retryAt ?? 0) - NOW) / 60_000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  it('for a temporary reason resets the backoff for another target', () => {
    const memory = { failed: { target: 'c', problem: full, tries: 5 } };
    const { action, state } = computeStep({ observed: { memory }, state: { ended: old(full) } });
    expect(action.memory).toEqual({ failed: { target: 'b', problem: full, tries: 1 } });
    expect(state.retryAt).toBe(NOW + 60_000);
  });
});

describe('a machine whose disk does not name its config', () => {
  rows([
    ['is checked', { observed: { current: null } }, 'find first config'],
    [
      'and that does not match reports why, and is checked again later',
      { observed: { current: null }, state: { noConfig: { code: 'SLW_DAEMON_DRIFT', message: 'no' } } },
      'report; a: idle, Degraded SLW_DAEMON_DRIFT; again in 60000 ms',
    ],
  ]);
});

const failed = { failed: { target: 'b', problem: broken } };
const temporary = { failed: { target: 'b', problem: full, tries: 1 } };
const drained = { desiredDrain: 'drain-b', lastAppliedDrain: 'drain-b' };

const updateToA = { target: 'a', drain: true, os: false, image: false, reboot: false, postAction: '' };

describe('a node that stays at its config', () => {
  rows([
    ['reports its config', {}, 'report; a: idle; the update is over'],
    ['reports drift', { observed: { drift: 'x' } }, 'report; a: idle, Degraded SLW_DAEMON_DRIFT; the update is over'],
    ['requests to be uncordoned', { said: drained }, 'report; a: uncordoning, uncordon-a'],
    [
      'and waits for that',
      { said: { desiredDrain: 'uncordon-a', lastAppliedDrain: 'drain-b' } },
      'report; a: uncordoning, uncordon-a',
    ],
    [
      'is uncordoned',
      { said: { desiredDrain: 'uncordon-a', lastAppliedDrain: 'uncordon-a' } },
      'report; a: idle; the update is over',
    ],
    [
      'after an update first reports that the update is complete',
      { observed: { memory: { update: updateToA } } },
      'report; a: resumed; the update is over; again in 0 ms',
    ],
    [
      'after an update with a drain reports that only once it is uncordoned',
      { observed: { memory: { update: updateToA } }, said: drained },
      'report; a: uncordoning, uncordon-a',
    ],
    [
      'and has drifted right after an update reports the drift',
      { observed: { memory: { update: updateToA }, drift: 'x' } },
      'report; a: idle, Degraded SLW_DAEMON_DRIFT; the update is over',
    ],
    [
      'because the cluster does not know its disk reports that',
      { said: { currentConfig: 'z', desiredConfig: 'b' } },
      'report; a: idle, Degraded SLW_DAEMON_CLUSTER_OLDER',
    ],
    [
      'because its target has failed reports that',
      { observed: { memory: failed }, said: { desiredConfig: 'b' } },
      'report; a: idle, Degraded SLW_DAEMON_UNIT (done); the update is over',
    ],
    [
      'because its target has failed requests to be uncordoned anyway',
      { observed: { memory: failed }, said: { desiredConfig: 'b', ...drained } },
      'report; a: uncordoning, uncordon-a, Degraded SLW_DAEMON_UNIT (done)',
    ],
    [
      'because of a temporary failure reports that, and retries when it is time',
      { said: { desiredConfig: 'b' }, observed: { memory: temporary }, state: { retryAt: NOW + 5000 } },
      'report; a: idle, Degraded SLW_DAEMON_DISK (done); the update is over; again in 5000 ms',
    ],
    [
      'because of a temporary failure requests to be uncordoned meanwhile',
      { said: { desiredConfig: 'b', ...drained }, observed: { memory: temporary }, state: { retryAt: NOW + 5000 } },
      'report; a: uncordoning, uncordon-a, Degraded SLW_DAEMON_DISK (done); again in 5000 ms',
    ],
  ]);

  it('forgets failed and held targets once it has its desired config', () => {
    const memory = { reported: 'a', held: 'b', ...failed };
    expect(computeStep({ observed: { memory } }).action.memory).toEqual({ reported: 'a' });
  });

  it('remembers which target it ignores, and warns', () => {
    const { action } = computeStep({ said: { currentConfig: 'z', desiredConfig: 'b' } });
    expect(action).toMatchObject({
      memory: { held: 'b' },
      warning: expect.stringContaining('does not know the config on this disk'),
    });
  });
});

const toB = { desiredConfig: 'b' };
const plan: UpdatePlan = {
  from: 'a',
  to: 'b',
  isEmpty: false,
  changes: [],
  irreconcilable: [],
  tolerated: [],
  actions: [],
  needsDrain: false,
  causes: [],
};
const preflight: PassedPreflight = {
  type: 'passed',
  survey: { moves: [], originals: [], endedOriginals: [], oldPasswordHash: null, directories: [], problems: [] },
  desired: {
    config: 'b',
    entries: new Map(),
    units: [],
    core: { sshKeys: null, passwordHash: null },
    os: { image: '', kernelArguments: [], noKernelArguments: [], kernelType: '', extensions: [], fips: false },
  },
};
const ready = (more: Partial<UpdatePlan> = {}): PrepareResult => ({
  type: 'ready',
  target: { name: 'b', spec: {} },
  plan: { ...plan, ...more },
  preflight,
});
const afterDownload: PrepareResult = { type: 'ready', target: { name: 'b', spec: {} }, plan, preflight: null };
const missing = { type: 'refused', cause: 'config', problem: { code: 'SLW_DAEMON_CONFIG', message: 'no' } } as const;
const drifted = { type: 'refused', cause: 'drift', problem: { code: 'SLW_DAEMON_DRIFT', message: 'no' } } as const;
const impossible = {
  type: 'irreconcilable',
  problem: { code: 'SLW_UPDATE_IRRECONCILABLE', message: 'no' },
  changes: lacks,
} as const;
const question = JSON.stringify(['a', 'b', false, null, false]);
const answered = (until: number, of = question) => ({ answer: { question: of, answer: missing, until } });
const draining = (until: number) => ({ answer: { question, answer: { type: 'drain' }, until } }) as const;
const scope = { target: 'b', drain: false, os: false, image: false, reboot: false, postAction: '' };

describe('a node that is assigned another config', () => {
  rows([
    ['prepares for it', { said: toB }, 'prepare; b'],
    ['when the retry is due', { said: toB, observed: { memory: temporary }, state: { retryAt: NOW } }, 'prepare; b'],
    ['immediately after a restart of the daemon', { said: toB, observed: { memory: temporary } }, 'prepare; b'],
    [
      'earlier when forced',
      { said: toB, observed: { isForced: true, memory: temporary }, state: { retryAt: NOW + 5000 } },
      'prepare; b; isForced',
    ],
    [
      'also for a failed one, when forced',
      { said: toB, observed: { isForced: true, memory: failed } },
      'prepare; b; isForced',
    ],
    [
      'and does not download again while it waits for its drain',
      { said: toB, observed: { memory: { update: scope } } },
      'prepare; b; isPrepared; isTold',
    ],
    [
      'waits for its drain without checking the machine, for a while',
      { said: toB, observed: { memory: { update: scope } }, state: draining(NOW + 1) },
      'report; a: draining, drain-b',
    ],
    [
      'checks the machine again while it waits, from time to time',
      { said: toB, observed: { memory: { update: scope } }, state: draining(NOW) },
      'prepare; b; isPrepared; isTold',
    ],
    [
      'checks the machine immediately if it drifts while it waits',
      { said: toB, observed: { memory: { update: scope }, drift: 'x' }, state: draining(NOW + 1) },
      'prepare; b; isPrepared; isTold',
    ],
    [
      'checks the machine again when it is drained',
      { said: { ...toB, ...drained }, observed: { memory: { update: scope } }, state: draining(NOW + 1) },
      'prepare; b; isPrepared; isDrained; isTold',
    ],
    [
      'checks the machine again after a download, which took time',
      { said: toB, state: { prepared: afterDownload } },
      'prepare; b; isPrepared; isTold',
    ],
    [
      'that was refused is refused again for a while, without a check',
      { said: toB, state: answered(NOW + 1) },
      'report; a: preparing, update to b, Degraded SLW_DAEMON_CONFIG; again in 60000 ms',
    ],
    ['then is checked again, without a new report', { said: toB, state: answered(NOW) }, 'prepare; b; isTold'],
    ['and immediately if the question changed', { said: toB, state: answered(NOW + 1, 'x') }, 'prepare; b'],
    [
      'reports why it cannot start, and checks again later',
      { said: toB, state: { prepared: missing } },
      'report; a: preparing, update to b, Degraded SLW_DAEMON_CONFIG; again in 60000 ms',
    ],
    [
      'reports irreconcilable changes, and waits for another target',
      { said: toB, state: { prepared: impossible } },
      'report; a: preparing, update to b, Unreconcilable SLW_UPDATE_IRRECONCILABLE, without spec.x',
    ],
    ['adopts its name if nothing differs', { said: toB, state: { prepared: ready({ isEmpty: true }) } }, 'adopt; b'],
    [
      'requests a drain first',
      { said: { ...toB, drainBlocked: 'pod p' }, state: { prepared: ready({ needsDrain: true }) } },
      'report; a: draining, drain-b, blocked by pod p',
    ],
    [
      'also after a drain for another config',
      { said: { ...toB, lastAppliedDrain: 'drain-c' }, state: { prepared: ready({ needsDrain: true }) } },
      'report; a: draining, drain-b',
    ],
    [
      'applies it when it is drained',
      { said: { ...toB, lastAppliedDrain: 'drain-b' }, state: { prepared: ready({ needsDrain: true }) } },
      'apply; b; again in 0 ms',
    ],
    ['applies it immediately without a drain', { said: toB, state: { prepared: ready() } }, 'apply; b; again in 0 ms'],
    [
      'consumes the force file',
      { said: toB, observed: { isForced: true }, state: { prepared: ready() } },
      'apply; b; forced; again in 0 ms',
    ],
  ]);

  it.each<[string, StepInput, NodeMemory | undefined]>([
    [
      'the update in progress, before its drain',
      { state: { prepared: ready({ needsDrain: true }) } },
      { update: { ...scope, drain: true } },
    ],
    [
      'what the machine will lack, before it changes',
      { state: { prepared: ready({ tolerated: lacks }) } },
      { update: scope, willLack: lacks },
    ],
    ['the adopted name', { state: { prepared: ready({ isEmpty: true }) } }, { update: scope }],
    ['nothing of a refused update', { state: { prepared: missing } }, undefined],
  ])('remembers %s', (_, given, memory) => {
    expect(computeStep({ ...given, said: toB }).action.memory).toEqual(memory);
  });

  it.each<[string, PrepareResult, StepState['answer']]>([
    ['a refusal for a minute', missing, { question, answer: missing, until: NOW + 60_000 }],
    ['no refusal for drift, whose end is reported', drifted, { question, answer: drifted, until: NOW }],
    ['no answer once the update starts', ready(), null],
    ['the need for a drain, for a minute', ready({ needsDrain: true }), draining(NOW + 60_000).answer],
  ])('remembers %s', (_, prepared, expected) => {
    const state = { prepared, ...answered(NOW + 1, 'x') };
    expect(computeStep({ said: toB, state }).state).toMatchObject({ answer: expected, prepared: null });
  });
});

const facts = (more: Partial<NodeFacts>): NodeFacts => ({
  current: 'b',
  said: { currentConfig: 'b', desiredConfig: 'b' },
  memory: { reported: 'b' },
  isForced: false,
  ...more,
});
const said = (currentConfig: string | null, desiredConfig: string | null) => ({
  said: { currentConfig, desiredConfig },
});

describe('a node', () => {
  it.each<[string, Partial<NodeFacts>, string]>([
    ['stays at its desired config', {}, 'stay'],
    ['stays at its config while it is assigned none', said('b', null), 'stay'],
    ['follows another assigned config', said('b', 'c'), 'update'],
    ['follows an older assigned config, because a user requested it', said('b', 'a'), 'update'],
    ['that the cluster does not know yet follows', said(null, 'c'), 'update'],
    [
      'that updated and could not report it yet, and is assigned the next config, follows',
      { ...said('a', 'c'), memory: { reported: 'a' } },
      'update',
    ],
    ['does not roll back because the cluster was restored from a backup', said('a', 'a'), 'hold'],
    [
      'still does not after it has reported its config to the restored cluster',
      { ...said('b', 'a'), memory: { reported: 'b', held: 'a' } },
      'hold',
    ],
    [
      'follows as soon as it is assigned another config',
      { ...said('b', 'c'), memory: { reported: 'b', held: 'a' } },
      'update',
    ],
    ['rolls back anyway when forced', { ...said('a', 'a'), isForced: true }, 'update'],
    ['without memory trusts its disk', { ...said('a', 'a'), memory: {} }, 'hold'],
    [
      'does not retry a failed config',
      { ...said('b', 'c'), memory: { reported: 'b', failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'give up',
    ],
    [
      'retries it when forced',
      { ...said('b', 'c'), isForced: true, memory: { failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'update',
    ],
    [
      'follows another config after one has failed',
      { ...said('b', 'd'), memory: { reported: 'b', failed: { target: 'c', problem: { code: 'X', message: 'no' } } } },
      'update',
    ],
  ])('%s', (_, given, expected) => {
    expect(decideConfig(facts(given)).type).toBe(expected);
  });
});

const problem = { code: 'SLW_DAEMON_CONFIG', message: 'no such MachineConfig' };
const missingConfig: PrepareRefusal = { type: 'refused', cause: 'config', problem };
const driftedMachine: PrepareRefusal = { type: 'refused', cause: 'drift', problem };
const START = 1000;

describe('an update that was refused', () => {
  it('is refused again without a check of the machine, for a while', () => {
    const answer = recordAnswer('a to b', missingConfig, START);
    expect(findValidAnswer(answer, 'a to b', START)).toBe(missingConfig);
    expect(findValidAnswer(answer, 'a to b', START + ANSWER_TTL_MS)).toBeNull();
    expect(answer.question).toBe('a to b');
  });

  it('does not affect another one', () => {
    expect(findValidAnswer(recordAnswer('a to b', missingConfig, START), 'a to c', START)).toBeNull();
  });

  it('is checked again immediately if drift was the reason, because its end is reported', () => {
    const answer = recordAnswer('a to b', driftedMachine, START);
    expect(findValidAnswer(answer, 'a to b', START)).toBeNull();
    expect(answer.question).toBe('a to b');
  });

  it('is forgotten when an update can start', () => {
    expect(findValidAnswer(null, 'a to b', START)).toBeNull();
  });
});
