import type { Infrastructure } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { serverAddress } from './server-address.ts';
import type { ServerAddress } from './server-address.ts';

type Status = NonNullable<Infrastructure['status']>;
const cluster = (status: Status): Infrastructure => ({ metadata: { name: 'cluster' }, spec: {}, status });
const internal = { apiServerInternalURI: 'https://api-int.example.com:6443' };
const none = { serverUrl: undefined, serverHosts: [] };

const table: [string, Parameters<typeof serverAddress>, ServerAddress | undefined][] = [
  ['nothing is known', [none, undefined], undefined],
  ['the platform says nothing', [none, cluster({})], undefined],
  ['the platform says nonsense', [none, cluster({ apiServerInternalURI: 'api-int' })], undefined],
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
    'the platform says no address',
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
    'it was said, on a platform whose machines know another name',
    [{ serverUrl: 'https://[fd00::9]:22623', serverHosts: [] }, cluster(internal)],
    { url: 'https://[fd00::9]:22623', hosts: ['fd00::9', 'api-int.example.com'] },
  ],
];

describe('the address of the server', () => {
  it.each(table)('where %s', (_, [options, infrastructure], address) => {
    expect(serverAddress(options, infrastructure)).toEqual(address);
  });
});
