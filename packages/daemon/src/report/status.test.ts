import { machineConfigNodeKind, validate } from '@slipway/api';
import type { Irreconcilable, UpdatePlan } from '@slipway/fleet';
import type { Condition } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import {
  type NodeSnapshot,
  type Phase,
  phases,
  buildUpdateScope,
  type SnapshotProblem,
  type UpdateScope,
} from './snapshot.ts';
import { computeConditions, computeStatus } from './status.ts';

const now = new Date('2026-01-02T03:04:05Z');
const snapshot: NodeSnapshot = {
  currentConfig: 'rendered-worker-1',
  desiredConfig: 'rendered-worker-2',
  phase: 'idle',
  update: null,
  problem: null,
  desiredDrain: null,
  irreconcilable: [],
};
const metadata = { name: 'n1', generation: 4 };
const update = { target: 'rendered-worker-2', drain: true, os: true, image: true, reboot: true, postAction: '' };

const irreconcilable = (field: string, more: Partial<Irreconcilable> = {}): Irreconcilable => ({
  code: 'SLW_UPDATE_IRRECONCILABLE',
  field,
  before: 'false',
  after: 'true',
  message: '',
  ...more,
});

const changesFor = (...found: Irreconcilable[]) =>
  computeStatus({ metadata }, { ...snapshot, irreconcilable: found }, now).irreconcilableChanges;

/** As the API server validates it. */
const validateStatus = ({ irreconcilableChanges, ...status }: ReturnType<typeof computeStatus>) =>
  validate(machineConfigNodeKind, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigNode',
    metadata,
    spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
    status: { ...status, ...(irreconcilableChanges !== null && { irreconcilableChanges }) },
  });

describe('the status of a MachineConfigNode', () => {
  it('has the current and the desired config', () => {
    expect(computeStatus({ metadata }, snapshot, now)).toMatchObject({
      observedGeneration: 4,
      configVersion: { current: 'rendered-worker-1', desired: 'rendered-worker-2' },
      irreconcilableChanges: null,
    });
  });

  it('keeps the current config while it is unknown, and reports that none is desired', () => {
    const status = { configVersion: { current: 'rendered-worker-0', desired: 'x' } };
    const unknown = { ...snapshot, currentConfig: null, desiredConfig: null };
    expect(computeStatus({ metadata, status }, unknown, now).configVersion).toEqual({
      current: 'rendered-worker-0',
      desired: 'not-yet-set',
    });
    expect(computeStatus({ metadata }, unknown, now).configVersion).toEqual({ desired: 'not-yet-set' });
  });

  it.each(phases)('is accepted by the API server: %s', (phase) => {
    const problem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'x'.repeat(40_000) } as const;
    for (const trouble of [null, problem, { ...problem, undo: 'under way' as const }]) {
      const status = computeStatus({ metadata }, { ...snapshot, phase, update, problem: trouble }, now);
      expect(validateStatus(status)).toMatchObject({ ok: true });
    }
  });
});

describe('an irreconcilable change', () => {
  it('has the field, with both values', () => {
    expect(changesFor(irreconcilable('spec.fips'))).toEqual([
      { fieldPath: 'spec.fips', diff: 'spec.fips: false → true' },
    ]);
    expect(changesFor(irreconcilable('spec.fips', { before: null }))).toMatchObject([
      { diff: 'spec.fips: none → true' },
    ]);
  });

  it('drops characters that the API does not allow from the path, and keeps them in the diff', () => {
    expect(changesFor(irreconcilable('spec.config.storage.disks[/dev/disk/by-id/x-1].wipeTable'))).toEqual([
      {
        fieldPath: 'spec.config.storage.disks[devdiskbyidx1].wipeTable',
        diff: 'spec.config.storage.disks[/dev/disk/by-id/x-1].wipeTable: false → true',
      },
    ]);
  });

  it('has each field once, however similar, long or many they are', () => {
    const long = `spec.config.storage.${'x'.repeat(100)}`;
    const many = Array.from({ length: 50 }, () => irreconcilable(long, { after: 'y'.repeat(5000) }));
    const changes = changesFor(...many) ?? [];
    expect(changes).toHaveLength(32);
    expect(new Set(changes.map(({ fieldPath }) => fieldPath)).size).toBe(32);
    expect(validateStatus(computeStatus({ metadata }, { ...snapshot, irreconcilable: many }, now))).toMatchObject({
      ok: true,
    });
  });
});

const began = new Date('2026-01-02T03:04:05Z');
const later = new Date('2026-01-02T03:10:00Z');

const idle: NodeSnapshot = {
  currentConfig: 'rendered-worker-1',
  desiredConfig: 'rendered-worker-1',
  phase: 'idle',
  update: null,
  problem: null,
  desiredDrain: null,
  irreconcilable: [],
};

const withReboot: UpdateScope = {
  target: 'rendered-worker-2',
  drain: true,
  os: true,
  image: true,
  reboot: true,
  postAction: '',
};
const withoutReboot: UpdateScope = {
  target: 'rendered-worker-2',
  drain: false,
  os: false,
  image: false,
  reboot: false,
  postAction: 'reload crio.service',
};

const at = (phase: Phase, update: UpdateScope, problem: SnapshotProblem | null = null): NodeSnapshot => ({
  ...idle,
  desiredConfig: update.target,
  phase,
  update,
  problem,
});

const letters: Record<string, string> = { True: 'T', False: '-', Unknown: '?' };
/** One letter per condition, in order: T, ? or -. */
const statuses = (conditions: readonly Condition[]): string =>
  conditions.map(({ status }) => letters[status] ?? '').join('');

/** The conditions after a node reported these snapshots. */
function after(...snapshots: NodeSnapshot[]): readonly Condition[] {
  let list: readonly Condition[] = [];
  for (const snapshot of snapshots) list = computeConditions(list, snapshot, began);
  return list;
}

const named = (list: readonly Condition[], type: string): Condition | undefined =>
  list.find((condition) => condition.type === type);

/** Prepared, Executed, Cordoned, Drained, Files, OS, FilesAndOS, ImagePulled, PostAction, Rebooted, Complete, Uncordoned, Updated, Resumed, Degraded, 2 × Pinned. */
const ALL_HEALTHY = '------------T----';

describe('the conditions of a MachineConfigNode', () => {
  it('are all present, in the order that users know, whatever the node does', () => {
    const types = after(idle).map(({ type }) => type);
    expect(types).toEqual([
      'UpdatePrepared',
      'UpdateExecuted',
      'Cordoned',
      'Drained',
      'AppliedFiles',
      'AppliedOSImage',
      'AppliedFilesAndOS',
      'ImagePulledFromRegistry',
      'UpdatePostActionComplete',
      'RebootedNode',
      'UpdateComplete',
      'Uncordoned',
      'Updated',
      'Resumed',
      'NodeDegraded',
      'PinnedImageSetsProgressing',
      'PinnedImageSetsDegraded',
    ]);
    for (const phase of phases) expect(after(at(phase, withReboot)).map(({ type }) => type)).toEqual(types);
  });

  it('of an idle node: only Updated is True', () => {
    expect(statuses(after(idle))).toBe(ALL_HEALTHY);
    expect(named(after(idle), 'Updated')?.message).toBe('The node runs rendered-worker-1');
  });

  it.each<[Phase, string]>([
    ['preparing', '?------?---------'],
    ['draining', 'T???---T---------'],
    ['applying files', 'T?TT?-?T---------'],
    ['applying os', 'T?TTT??T---------'],
    ['post action', 'TTTTTTTT?--------'],
    ['rebooting', 'TTTTTTTT??-------'],
    ['verifying', 'TTTTTTTTTT?------'],
    ['uncordoning', 'TTTTTTTTTT??-----'],
    ['resumed', 'TTTTTTTTTTTT-T---'],
  ])('of an update with a reboot, %s', (phase, expected) => {
    expect(statuses(after(idle, at(phase, withReboot)))).toBe(expected);
  });

  it.each<[Phase, string]>([
    ['preparing', '?----------------'],
    ['applying files', 'T?--?-?----------'],
    ['post action', 'TT--T-T-?--------'],
    ['verifying', 'TT--T-T-T-?------'],
    ['resumed', 'TT--T-T-T-T--T---'],
  ])('of an update without a drain or a reboot, %s', (phase, expected) => {
    const list = after(idle, at(phase, withoutReboot));
    expect(statuses(list)).toBe(expected);
    expect(named(list, 'Drained')).toMatchObject({ reason: 'NotRequired' });
    expect(named(list, 'RebootedNode')).toMatchObject({ reason: 'NotRequired' });
  });

  it('of a part have the parent and the part as reason', () => {
    const list = after(at('draining', withReboot));
    expect(named(list, 'UpdateExecuted')?.reason).toBe('UpdateExecuted');
    expect(named(list, 'Drained')?.reason).toBe('UpdateExecutedDrained');
    expect(named(list, 'RebootedNode')?.reason).toBe('NotYetOccurred');
  });

  it('report what blocks a drain until it continues, and still after it was cancelled', () => {
    const blocked = {
      ...at('draining', withReboot),
      drainBlocked: 'The drain is waiting for 1 pod. Pod shop/web-1: …',
    };
    expect(named(after(idle, blocked), 'Drained')).toMatchObject({
      status: 'False',
      reason: 'DrainBlocked',
      message: 'The drain is waiting for 1 pod. Pod shop/web-1: …',
    });
    expect(named(after(idle, blocked, at('draining', withReboot)), 'Drained')).toMatchObject({ status: 'Unknown' });
    expect(named(after(idle, blocked, at('applying files', withReboot)), 'Drained')).toMatchObject({ status: 'True' });
    const givenUp = after(idle, blocked, idle);
    expect(named(givenUp, 'Drained')).toMatchObject({
      status: 'False',
      reason: 'Drained',
      message: 'In the last update: The drain is waiting for 1 pod. Pod shop/web-1: …',
    });
    expect(computeConditions(givenUp, idle, later)).toBe(givenUp);
  });

  it('report the progress of the download, before the drain', () => {
    const downloading = { ...at('preparing', withReboot), download: '0 of 1 images, 0 B of 900 MB' };
    const list = after(idle, downloading);
    expect(named(list, 'ImagePulledFromRegistry')).toMatchObject({
      status: 'Unknown',
      message: 'Downloading the operating system image: 0 of 1 images, 0 B of 900 MB',
    });
    expect(named(list, 'UpdatePrepared')?.message).toMatch(
      /downloading the update to rendered-worker-2: 0 of 1 images, 0 B of 900 MB$/,
    );
    expect(named(after(idle, downloading, at('draining', withReboot)), 'ImagePulledFromRegistry')).toMatchObject({
      status: 'True',
      message: 'The operating system image is downloaded',
    });
  });

  it('after an update: no step is True, but the messages stay', () => {
    const there = { ...idle, currentConfig: 'rendered-worker-2', desiredConfig: 'rendered-worker-2' };
    const list = after(idle, at('resumed', withReboot), there);
    expect(statuses(list)).toBe(ALL_HEALTHY);
    expect(named(list, 'RebootedNode')?.message).toBe(
      'In the last update: The machine has rebooted into rendered-worker-2',
    );
    expect(computeConditions(list, there, later)).toBe(list);
  });

  it('during a rollback: all steps are Unknown, then False, and refer to NodeDegraded', () => {
    const problem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'unit a.service did not start' } as const;
    const undoing = after(idle, at('post action', withReboot, { ...problem, undo: 'under way' }));
    expect(statuses(undoing)).toBe('?????????-----T--');
    const undone = after(idle, at('post action', withReboot, { ...problem, undo: 'done' }));
    expect(statuses(undone)).toBe('--------------T--');
    expect(named(undone, 'AppliedFiles')).toMatchObject({ reason: 'RolledBack' });
    expect(named(undone, 'NodeDegraded')).toMatchObject({ reason: problem.code, message: problem.message });
    expect(named(undone, 'Updated')?.message).toBe(
      'The node runs rendered-worker-1; the desired config is rendered-worker-2. See NodeDegraded for what blocks it',
    );
  });

  it('after a failure: finished steps stay True, and the failed step is False', () => {
    const problem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'the disk is read-only' } as const;
    const list = after(idle, at('applying files', withReboot, problem));
    expect(statuses(list)).toBe('T-TT---T------T--');
    expect(named(list, 'AppliedFiles')).toMatchObject({ reason: 'SLW_DAEMON_X' });
  });

  it('of an irreconcilable config: nothing is prepared', () => {
    const problem = { state: 'Unreconcilable', code: 'SLW_UPDATE_IRRECONCILABLE', message: 'disks' } as const;
    const list = after(idle, at('preparing', withReboot, problem));
    expect(statuses(list)).toBe('--------------T--');
    expect(named(list, 'UpdatePrepared')).toMatchObject({ reason: 'SLW_UPDATE_IRRECONCILABLE' });
  });

  it('of a machine that has drifted: it is not updated, although it has the right name', () => {
    const problem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: '/etc/a differs' } as const;
    const list = after(idle, { ...idle, problem });
    expect(statuses(list)).toBe('--------------T--');
    expect(named(list, 'Updated')?.message).toBe(
      'The desired config is rendered-worker-1. See NodeDegraded for what blocks it',
    );
  });

  it('of a node without an assigned config', () => {
    expect(named(after({ ...idle, desiredConfig: null }), 'Updated')).toMatchObject({
      status: 'False',
      message: 'The node runs rendered-worker-1. No controller has assigned a config to it yet',
    });
  });

  it('keep the time of their last transition, and are the same list if nothing changes', () => {
    const first = computeConditions(undefined, idle, began);
    expect(computeConditions(first, idle, later)).toBe(first);
    const working = computeConditions(first, at('preparing', withReboot), later);
    expect(named(working, 'UpdatePrepared')?.lastTransitionTime).toBe('2026-01-02T03:10:00Z');
    expect(named(working, 'Drained')?.lastTransitionTime).toBe('2026-01-02T03:04:05Z');
  });

  it('of pinned images and of other controllers stay unchanged', () => {
    const pinned: Condition = {
      type: 'PinnedImageSetsProgressing',
      status: 'True',
      reason: 'ImagePrefetch',
      message: '3 of 7 images',
      lastTransitionTime: '2025-01-01T00:00:00Z',
    };
    const foreign: Condition = { ...pinned, type: 'Example' };
    const list = computeConditions([foreign, pinned], idle, began);
    expect(named(list, 'PinnedImageSetsProgressing')).toBe(pinned);
    expect(list.at(-1)).toBe(foreign);
  });
});

describe('the phases that an update needs', () => {
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
  const setting = (name: 'osImageURL' | 'baseOSExtensionsContainerImage') =>
    ({ kind: 'setting', setting: name, before: 'x', after: 'y' }) as const;

  it.each<[string, Partial<UpdatePlan>, Partial<UpdateScope>]>([
    ['nothing', {}, { drain: false, os: false, image: false, reboot: false, postAction: '' }],
    [
      'reloads',
      {
        actions: [{ type: 'Drain' }, { type: 'DaemonReload' }, { type: 'Restart', unit: 'a.service' }],
        needsDrain: true,
      },
      { drain: true, postAction: 'daemon-reload, restart a.service' },
    ],
    [
      'another OS',
      { changes: [setting('osImageURL')], actions: [{ type: 'Reboot' }], needsDrain: true },
      { drain: true, os: true, image: true, reboot: true, postAction: '' },
    ],
    ['another image for extensions', { changes: [setting('baseOSExtensionsContainerImage')] }, { os: false }],
    [
      'a kernel argument',
      { changes: [{ kind: 'kernel arguments', before: [], after: ['a'], removed: [], added: ['a'] }] },
      { os: true, image: false },
    ],
  ])('%s', (_, more, expected) => {
    expect(buildUpdateScope({ ...plan, ...more })).toMatchObject({ target: 'b', ...expected });
  });
});
