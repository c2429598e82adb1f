import { describe, expect, it } from 'vitest';
import { needsRemoteContent, remoteReferences } from './remote.ts';
import { file, ignition, machineConfig } from './sample.ts';

const remote = { source: 'https://example.com/x' };
const inline = { source: 'data:,x' };

describe('a config refers to other servers', () => {
  it.each<[string, object]>([
    ['ignition.config.merge[0].source', { ignition: { version: '3.5.0', config: { merge: [remote] } } }],
    ['ignition.config.replace.source', { ignition: { version: '3.5.0', config: { replace: remote } } }],
    ['ignition.config.append[0].source', { ignition: { version: '2.2.0', config: { append: [remote] } } }],
    [
      'ignition.security.tls.certificateAuthorities[0].source',
      { ignition: { version: '3.5.0', security: { tls: { certificateAuthorities: [remote] } } } },
    ],
    [
      'storage.files[1].contents.source',
      ignition({ storage: { files: [{ contents: inline }, { contents: remote }] } }),
    ],
    ['storage.files[0].append[0].source', ignition({ storage: { files: [{ append: [remote] }] } })],
    ['storage.luks[0].keyFile.source', ignition({ storage: { luks: [{ keyFile: remote }] } })],
    ['storage.files[0].contents.source', ignition({ storage: { files: [{ contents: { source: 'S3://bucket/x' } }] } })],
    ['storage.files[0].contents.source', ignition({ storage: { files: [{ contents: { source: 'tftp://host/x' } }] } })],
    // Another config has to be taken in wherever it stands.
    ['ignition.config.merge[0].source', { ignition: { version: '3.5.0', config: { merge: [inline] } } }],
  ])('by %s', (path, config) => {
    expect(remoteReferences(config).map((reference) => reference.path)).toEqual([path]);
  });

  it.each<[string, unknown]>([
    ['without a config', undefined],
    ['with contents of its own', ignition({ storage: { files: [file('/a', 'https://example.com')] } })],
    ['with an empty file', ignition({ storage: { files: [{ path: '/a', contents: { source: '' } }] } })],
    [
      'with a unit that speaks of a URL',
      ignition({ systemd: { units: [{ contents: 'source=https://example.com' }] } }),
    ],
    ['with a proxy', { ignition: { version: '3.5.0', proxy: { httpProxy: 'https://example.com' } } }],
    ['that is no object', 'source'],
  ])('not %s', (_, config) => {
    expect(remoteReferences(config)).toEqual([]);
  });

  it('however deep somebody nests it, the search ends', () => {
    let config: object = remote;
    for (let depth = 0; depth < 50_000; depth += 1) config = { config };
    expect(remoteReferences(config)).toEqual([]);
  });

  it('and then its MachineConfig needs content fetched', () => {
    expect(
      needsRemoteContent(machineConfig('a', { config: ignition({ storage: { files: [{ contents: remote }] } }) })),
    ).toBe(true);
    expect(needsRemoteContent(machineConfig('a'))).toBe(false);
  });
});
