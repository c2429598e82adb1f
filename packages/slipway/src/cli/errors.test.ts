import { KubeError } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { failureText, nearNames } from './errors.ts';

describe('failureText', () => {
  it('prints an expected error in one line with its code', () => {
    const error = new KubeError('SLW_KUBE_UNREACHABLE', 'get Node a: no connection.\n  Check the address');
    expect(failureText(error, true)).toBe(
      'slipway: get Node a: no connection. Check the address [SLW_KUBE_UNREACHABLE]',
    );
  });

  it('shows the stack of a bug only when debugging', () => {
    const text = failureText(new TypeError('x is not a function'), false);
    expect(text.split('\n')).toHaveLength(1);
    expect(text).toContain('SLIPWAY_DEBUG=1');
    expect(failureText(new TypeError('x'), true)).toContain('errors.test.ts');
  });
});

const names = ['/etc/chrony.conf', '/etc/crio/crio.conf', 'crio.service', 'nosmt', '/etc/chrony.d/a.conf'];

describe('names close to the requested one', () => {
  it.each<[string, string[]]>([
    ['/etc/chroni.conf', ['/etc/chrony.conf']],
    ['chrony', ['/etc/chrony.conf', '/etc/chrony.d/a.conf']],
    ['crio.servce', ['crio.service']],
    ['nosmp', ['nosmt']],
    ['/var/lib/something', []],
  ])('%s: %j', (asked, expected) => {
    expect(nearNames(asked, names)).toEqual(expected);
  });
});
