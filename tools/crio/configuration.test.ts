import { describe, expect, it } from 'vitest';
import { configure } from './configuration.ts';

const account = { username: 'puller', password: 'secret' };
const secure = { host: '127.0.0.1:5000', url: 'https://127.0.0.1:5000', ca: 'the certificate\n', ...account };
const plain = { host: '127.0.0.1:5001', url: 'http://127.0.0.1:5001', ca: '', ...account };

describe('what is on the disk of a machine with CRI-O', () => {
  it('trusts the certificate of a registry, and accepts plain HTTP from one that has none', () => {
    const files = configure({ registries: [secure, plain] });
    expect(files['/etc/containers/certs.d/127.0.0.1:5000/ca.crt']).toBe('the certificate\n');
    expect(files['/etc/containers/registries.conf']).toBe(
      '[[registry]]\nlocation = "127.0.0.1:5001"\ninsecure = true\n\n',
    );
  });

  it('has mirrors behind, and never a password', () => {
    const files = configure({ registries: [secure], registriesConf: '[[registry]]\nlocation = "quay.io"\n' });
    expect(files['/etc/containers/registries.conf']).toBe('[[registry]]\nlocation = "quay.io"\n');
    expect(JSON.stringify(files)).not.toContain('secret');
  });
});
