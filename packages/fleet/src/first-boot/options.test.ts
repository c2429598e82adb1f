import type { Infrastructure } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { FirstBootError } from '../errors.ts';
import { firstBootOptions, type FirstBootSettings, serverAddress, type ServerAddress } from './options.ts';

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

  it('use the default for undefined values', () => {
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
    [{ serverUrl: 'https://boot.example.com:22623/config' }, /nothing after the port/],
    [{ serverUrl: 'https://me:secret@boot.example.com' }, /found one with an @$/],
    [{ apiServerUrl: 'https://a_b:6443' }, /^apiServerUrl: expected/],
    [{ serverHosts: ['*.example.com'] }, /^serverHosts: expected a DNS name or an IP address/],
    [
      { caValidity: 100_000, caRefresh: 100_000 },
      /^caRefresh: expected .* and less than caValidity \(100 s\), found 100 s$/,
    ],
    [{ caValidity: 100_000, caRefresh: 24_000 }, /^caRefresh: expected at least a quarter of caValidity \(25 s\)/],
    [{ servingValidity: 0, servingRefresh: 0 }, /^servingValidity: expected at least 1 s, found 0 s$/],
    [{ tokenLifetime: Number.NaN }, /^tokenLifetime: expected at least 1 s/],
  ];
  it.each(refused)('refuse %j with a reason', (settings, message) => {
    expect(() => firstBootOptions(settings)).toThrow(FirstBootError);
    expect(() => firstBootOptions(settings)).toThrow(message);
  });
});

type Status = NonNullable<Infrastructure['status']>;
const cluster = (status: Status): Infrastructure => ({ metadata: { name: 'cluster' }, spec: {}, status });
const internal = { apiServerInternalURI: 'https://api-int.example.com:6443' };
const none = { serverUrl: undefined, serverHosts: [] };

const table: [string, Parameters<typeof serverAddress>, ServerAddress | undefined][] = [
  ['nothing is known', [none, undefined], undefined],
  ['the platform has no address', [none, cluster({})], undefined],
  ['the platform has an invalid address', [none, cluster({ apiServerInternalURI: 'api-int' })], undefined],
  [
    'the platform has a name',
    [none, cluster({ ...internal, platformStatus: { type: 'AWS' } })],
    { url: 'https://api-int.example.com:22623', hosts: ['api-int.example.com'] },
  ],
  [
    'the platform has addresses, which machines reach without a resolver',
    [none, cluster({ ...internal, platformStatus: { baremetal: { apiServerInternalIPs: ['fd00::5', '10.0.0.5'] } } })],
    { url: 'https://[fd00::5]:22623', hosts: ['fd00::5', '10.0.0.5', 'api-int.example.com'] },
  ],
  [
    'the platform has an empty address',
    [
      none,
      cluster({ ...internal, platformStatus: { type: 'oVirt', ovirt: {}, vsphere: { apiServerInternalIPs: [] } } }),
    ],
    { url: 'https://api-int.example.com:22623', hosts: ['api-int.example.com'] },
  ],
  [
    'it was said',
    [{ serverUrl: 'https://boot.example.com:8443', serverHosts: ['10.0.0.9', 'boot.example.com'] }, undefined],
    { url: 'https://boot.example.com:8443', hosts: ['boot.example.com', '10.0.0.9'] },
  ],
  [
    'it is configured, on a platform with another name',
    [{ serverUrl: 'https://[fd00::9]:22623', serverHosts: [] }, cluster(internal)],
    { url: 'https://[fd00::9]:22623', hosts: ['fd00::9', 'api-int.example.com'] },
  ],
];

describe('the address of the server', () => {
  it.each(table)('where %s', (_, [options, infrastructure], address) => {
    expect(serverAddress(options, infrastructure)).toEqual(address);
  });
});
