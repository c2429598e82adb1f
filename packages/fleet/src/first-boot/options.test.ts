import { describe, expect, it } from 'vitest';
import { FirstBootError } from '../errors.ts';
import { firstBootOptions } from './options.ts';
import type { FirstBootSettings } from './options.ts';

describe('the options of the first boot', () => {
  it('have a default for everything', () => {
    expect(firstBootOptions({})).toMatchObject({
      namespace: 'openshift-machine-config-operator',
      machineApiNamespace: 'openshift-machine-api',
      clusterApiNamespace: 'openshift-cluster-api',
      serverUrl: undefined,
      tokenLifetime: 86_400_000,
    });
  });

  it('take the default also for what is undefined', () => {
    expect(firstBootOptions({ tokenLifetime: undefined }).tokenLifetime).toBe(86_400_000);
  });

  it.each([
    ['https://boot.example.com:22623', 'https://boot.example.com:22623'],
    ['https://BOOT.example.com:22623/', 'https://boot.example.com:22623'],
    ['https://[fd00::0:5]:22623', 'https://[fd00::5]:22623'],
    ['https://10.0.0.1', 'https://10.0.0.1'],
  ])('read the address %s', (serverUrl, expected) => {
    expect(firstBootOptions({ serverUrl }).serverUrl).toBe(expected);
  });

  const refused: [FirstBootSettings, RegExp][] = [
    [{ serverUrl: 'http://boot.example.com:22623' }, /^serverUrl: expected .*found "http:/],
    [{ serverUrl: 'boot.example.com:22623' }, /^serverUrl: expected/],
    [{ serverUrl: 'https://boot.example.com:22623/config' }, /nothing behind the port/],
    [{ serverUrl: 'https://me:secret@boot.example.com' }, /found an @ in it$/],
    [{ apiServerUrl: 'https://a_b:6443' }, /^apiServerUrl: expected/],
    [{ serverHosts: ['*.example.com'] }, /^serverHosts: expected a DNS name or an IP address/],
    [{ caValidity: 100_000, caRefresh: 100_000 }, /^caRefresh: expected .* to less than it \(100 s\), found 100 s$/],
    [{ caValidity: 100_000, caRefresh: 24_000 }, /^caRefresh: expected from a quarter of caValidity \(25 s\)/],
    [{ servingValidity: 0, servingRefresh: 0 }, /^servingValidity: expected at least 1 s, found 0 s$/],
    [{ tokenLifetime: Number.NaN }, /^tokenLifetime: expected at least 1 s/],
  ];
  it.each(refused)('refuse %j, and say why', (settings, message) => {
    expect(() => firstBootOptions(settings)).toThrow(FirstBootError);
    expect(() => firstBootOptions(settings)).toThrow(message);
  });
});
