import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { withFirstBootOptions } from './options.ts';

const read = (...args: string[]) =>
  withFirstBootOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }))
    .parse(args, { from: 'user' })
    .opts();

describe('the options about how machines join', () => {
  it('put tokens into stubs by default, and leave the rest to the controllers', () => {
    expect(read()).toEqual({ stubTokens: true });
  });

  it('have the names that the controllers use', () => {
    const args = ['--server-url', 'https://a:22623', '--server-host', 'b', '--server-host', 'c', '--no-stub-tokens'];
    expect(read(...args, '--ca-refresh', '2920d')).toEqual({
      serverUrl: 'https://a:22623',
      serverHost: ['b', 'c'],
      stubTokens: false,
      caRefresh: 2920 * 24 * 3_600_000,
    });
  });

  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['365d', 31_536_000_000],
  ])('accept the duration %s', (text, ms) => {
    expect(read('--token-lifetime', text)).toMatchObject({ tokenLifetime: ms });
  });

  it.each(['', '10', 'h', '0h', '1.5h', '1w', '1h30m'])('refuse the duration %j and give an example', (text) => {
    expect(() => read('--token-lifetime', text)).toThrow(/expected .* such as 24h/);
  });
});
