import { describe, expect, it } from 'vitest';
import { describeDrifts, type Drift, buildItemKey } from './drift.ts';

function drift(message: string): Drift {
  return { kind: 'file', name: '/etc/a', message, diff: '', canHeal: true };
}

describe('drift for people', () => {
  it('names the config, what differs, and the ways out', () => {
    expect(describeDrifts('rendered-worker-1', [drift('file /etc/a: expected mode 0644, found 0600')])).toBe(
      '1 thing on this machine is not as rendered-worker-1 says: file /etc/a: expected mode 0644, found 0600. ' +
        'Undo it on the machine, or say it in a MachineConfig, or let it be put back: ' +
        'annotation slipway.dev/drift-policy=heal on the MachineConfiguration cluster',
    );
  });

  it('is nothing where there is none', () => {
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

  it('is about one thing where contents and mode of a file differ', () => {
    const of = (kind: Drift['kind'], name: string) => buildItemKey({ kind, name });
    expect(of('file', '/etc/a')).toBe(of('permission', '/etc/a'));
    expect(of('password', 'core')).not.toBe(of('ssh keys', 'core'));
  });
});
