import { describe, expect, it } from 'vitest';
import { shortConfig, shortConfigs } from './config-name.ts';

describe('a rendered config in short', () => {
  it.each<[string | null, string]>([
    [`rendered-worker-1f2e3d4c${'0'.repeat(24)}`, 'rendered-worker-1f2e3d4c…'],
    [`rendered-my-pool-1f2e3d4c${'a'.repeat(24)}`, 'rendered-my-pool-1f2e3d4c…'],
    ['rendered-worker-2', 'rendered-worker-2'],
    [null, '-'],
  ])('%s: %s', (name, short) => {
    expect(shortConfig(name)).toBe(short);
  });

  it('is short wherever it stands in a text', () => {
    const name = `rendered-worker-1f2e3d4c${'0'.repeat(24)}`;
    expect(shortConfigs(`from ${name}. To ${name}, or drain-${name}`)).toBe(
      'from rendered-worker-1f2e3d4c…. To rendered-worker-1f2e3d4c…, or drain-rendered-worker-1f2e3d4c…',
    );
  });
});
