import { KubeError } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { failureText } from './errors.ts';

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
