import { sampleSecrets } from '@slipway/testing/secret-samples';
import { diffConfigs, encodeDataUrl, formatDiff, isOfVersion, parse, type ConfigOf } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { isSecretFile, maskedDiff, maskField } from './masking.ts';

describe('the contents of a file are secret', () => {
  it.each([
    ['/etc/anything', 0o600],
    ['/etc/anything', 0o400],
    ['/etc/anything', 0],
    ['/etc/kubernetes/kubeconfig', 0o644],
    ['/var/lib/kubelet/config.json', 0o644],
    ['/etc/ignition-machine-config-encapsulated.json', 0o644],
    ['/etc/ssh/ssh_host_ed25519_key', 0o640],
    ['/home/core/.ssh/id_rsa', 0o644],
    ['/etc/pki/tls/private/server.crt', 0o644],
    ['/etc/app/server.key', undefined],
    ['/etc/app/SERVER.KEY', undefined],
    ['/etc/app/tls-key.pem', 0o644],
    ['/etc/app/privkey1.pem', 0o644],
    ['/root/.docker/auth.json', 0o644],
    ['/etc/NetworkManager/system-connections/wifi.nmconnection', 0o644],
    ['/etc/shadow', 0o640],
  ])('%s with mode %o', (path, mode) => expect(isSecretFile(path, mode)).toBe(true));

  it.each([
    ['/etc/chrony.conf', 0o644],
    ['/etc/chrony.conf', undefined],
    ['/etc/readable-by-group', 0o640],
    ['/etc/ssh/ssh_host_ed25519_key.pub', 0o644],
    ['/etc/pki/ca-trust/source/anchors/ca.pem', 0o644],
    ['/etc/app/keyboard.conf', 0o644],
    ['/etc/kubernetes/ca.crt', 0o644],
  ])('but not of %s with mode %o', (path, mode) => expect(isSecretFile(path, mode)).toBe(false));
});

describe('masking', () => {
  it('hides password hashes and header values by default', () => {
    expect(maskField('passwordHash', '$6$x')).toBe('(hidden)');
    expect(maskField('contents.httpHeaders[0].value', 'Bearer x')).toBe('(hidden)');
    expect(maskField('shell', '/bin/bash')).toBe('/bin/bash');
    expect(maskField('passwordHash', '$6$x', { showSecrets: true })).toBe('$6$x');
  });

  it.each(sampleSecrets(190, 11))(
    'hides by content in a diff of files, units and drop-ins: $kind',
    async ({ text, secrets }) => {
      const config = (contents: string) => {
        const parsed = parse({
          ignition: { version: '3.5.0' },
          storage: {
            files: [{ path: '/etc/shop', mode: 0o644, contents: { source: encodeDataUrl(Buffer.from(contents)) } }],
          },
          systemd: { units: [{ name: 'a.service', contents, dropins: [{ name: 'b.conf', contents }] }] },
        });
        if (parsed.config === null) throw new Error('not parsed');
        return parsed.config;
      };
      for (const [before, after] of [
        ['', text],
        [text, ''],
        [`${text}\nport = 1\n`, `${text}\nport = 2\n`],
      ] as const) {
        const { items } = await diffConfigs(config(before), config(after), maskedDiff());
        const shown = formatDiff(items ?? []) + JSON.stringify(items);
        expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
        expect(shown).toContain('/etc/shop');
      }
    },
  );

  it('shows that a secret changed', async () => {
    const config = (contents: string) =>
      parse({ ignition: { version: '3.5.0' }, systemd: { units: [{ name: 'a.service', contents }] } }).config;
    const [a, b] = [config('[Service]\nEnvironment=TOKEN=abc1\n'), config('[Service]\nEnvironment=TOKEN=abc2\n')];
    if (a === null || b === null) throw new Error('not parsed');
    const { items } = await diffConfigs(a, b, maskedDiff());
    expect(formatDiff(items ?? [])).toMatch(/-Environment=TOKEN=\(hidden\)\n +\+Environment=TOKEN=\(hidden\)\n/);
  });

  it('keeps secrets out of a diff', async () => {
    const config = (secret: string): ConfigOf<'3.5.0'> => {
      const files = [
        { path: '/etc/kubernetes/kubeconfig', mode: 0o644, contents: { source: `data:,token-${secret}` } },
      ];
      const users = [{ name: 'core', passwordHash: `hash-${secret}` }];
      const parsed = parse({ ignition: { version: '3.5.0' }, storage: { files }, passwd: { users } });
      if (parsed.config === null || !isOfVersion(parsed.config, '3.5.0')) throw new Error('not parsed');
      return parsed.config;
    };
    const shown = async (showSecrets: boolean) => {
      const { items } = await diffConfigs(config('one'), config('two'), maskedDiff({ showSecrets }));
      return formatDiff(items ?? []);
    };
    expect(await shown(false)).toContain('/etc/kubernetes/kubeconfig');
    expect(await shown(false)).not.toMatch(/token-|hash-/);
    expect(await shown(true)).toMatch(/token-two[^]*hash-two/);
  });
});
