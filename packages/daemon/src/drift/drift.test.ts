import { describe, expect, it } from 'vitest';
import { describeDrifts, type Drift, buildItemKey } from './drift.ts';

function drift(message: string): Drift {
  return { kind: 'file', name: '/etc/a', message, diff: '', canHeal: true };
}

describe('the text about drift', () => {
  it('names the config, the differences, and what to do', () => {
    expect(describeDrifts('rendered-worker-1', [drift('file /etc/a: expected mode 0644, found 0600')])).toBe(
      '1 item on this machine differs from rendered-worker-1: file /etc/a: expected mode 0644, found 0600. ' +
        'Revert it on the machine, add it to a MachineConfig, or have the daemon revert it: ' +
        'set annotation slipway.dev/drift-policy=heal on MachineConfiguration cluster',
    );
  });

  it('is empty without drift', () => {
    expect(describeDrifts('rendered-worker-1', [])).toBe('');
  });

  it.each([1, 2, 30, 5000])('fits into an event: %i of them', (count) => {
    const drifts = Array.from({ length: count }, (_, index) => drift(`file /etc/${index}/${'x'.repeat(150)}: gone`));
    const text = describeDrifts(`rendered-worker-${'0'.repeat(32)}`, drifts);
    expect(text.length).toBeLessThan(1000);
    expect(text).toContain('file /etc/0/');
    expect(/and (\d+) more/.exec(text)?.[1] ?? '0').toBe(
      String(Math.max(0, count - (text.split('file /etc/').length - 1))),
    );
  });

  it('counts contents and mode of a file as one item', () => {
    const of = (kind: Drift['kind'], name: string) => buildItemKey({ kind, name });
    expect(of('file', '/etc/a')).toBe(of('permission', '/etc/a'));
    expect(of('password', 'core')).not.toBe(of('ssh keys', 'core'));
  });
});
