import { machineConfigNodeKind, validate } from '@slipway/api';
import type { Irreconcilable } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { type NodeSnapshot, phases } from './snapshot.ts';
import { statusOf } from './status.ts';

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
  statusOf({ metadata }, { ...snapshot, irreconcilable: found }, now).irreconcilableChanges;

/** As the API server sees it. */
const problemsOf = ({ irreconcilableChanges, ...status }: ReturnType<typeof statusOf>) =>
  validate(machineConfigNodeKind, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigNode',
    metadata,
    spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
    status: { ...status, ...(irreconcilableChanges !== null && { irreconcilableChanges }) },
  });

describe('the status of a MachineConfigNode', () => {
  it('says what the node runs and what it is on the way to', () => {
    expect(statusOf({ metadata }, snapshot, now)).toMatchObject({
      observedGeneration: 4,
      configVersion: { current: 'rendered-worker-1', desired: 'rendered-worker-2' },
      irreconcilableChanges: null,
    });
  });

  it('keeps what the node ran where that is not known now, and says where nothing is desired', () => {
    const status = { configVersion: { current: 'rendered-worker-0', desired: 'x' } };
    const unknown = { ...snapshot, currentConfig: null, desiredConfig: null };
    expect(statusOf({ metadata, status }, unknown, now).configVersion).toEqual({
      current: 'rendered-worker-0',
      desired: 'not-yet-set',
    });
    expect(statusOf({ metadata }, unknown, now).configVersion).toEqual({ desired: 'not-yet-set' });
  });

  it.each(phases)('is one that the API server takes: %s', (phase) => {
    const problem = { state: 'Degraded', code: 'SLW_DAEMON_X', message: 'x'.repeat(40_000) } as const;
    for (const trouble of [null, problem, { ...problem, undo: 'under way' as const }]) {
      const status = statusOf({ metadata }, { ...snapshot, phase, update, problem: trouble }, now);
      expect(problemsOf(status)).toMatchObject({ ok: true });
    }
  });
});

describe('what a machine cannot become', () => {
  it('is named by field, with both values', () => {
    expect(changesFor(irreconcilable('spec.fips'))).toEqual([
      { fieldPath: 'spec.fips', diff: 'spec.fips: false → true' },
    ]);
    expect(changesFor(irreconcilable('spec.fips', { before: null }))).toMatchObject([
      { diff: 'spec.fips: not there → true' },
    ]);
  });

  it('loses in the path what the API does not allow, and keeps it in the diff', () => {
    expect(changesFor(irreconcilable('spec.config.storage.disks[/dev/disk/by-id/x-1].wipeTable'))).toEqual([
      {
        fieldPath: 'spec.config.storage.disks[devdiskbyidx1].wipeTable',
        diff: 'spec.config.storage.disks[/dev/disk/by-id/x-1].wipeTable: false → true',
      },
    ]);
  });

  it('is told of each field once, however alike, long or many they are', () => {
    const long = `spec.config.storage.${'x'.repeat(100)}`;
    const many = Array.from({ length: 50 }, () => irreconcilable(long, { after: 'y'.repeat(5000) }));
    const changes = changesFor(...many) ?? [];
    expect(changes).toHaveLength(32);
    expect(new Set(changes.map(({ fieldPath }) => fieldPath)).size).toBe(32);
    expect(problemsOf(statusOf({ metadata }, { ...snapshot, irreconcilable: many }, now))).toMatchObject({ ok: true });
  });
});
