import { formatDiff } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { diffRendered } from './diff.ts';
import { file, machineConfig, renderOk, withFiles } from './testing/sample.ts';

const shown = async (...args: Parameters<typeof diffRendered>) => formatDiff((await diffRendered(...args)).items ?? []);

describe('the difference of two rendered configs', () => {
  it('covers files and settings', async () => {
    const before = { ...withFiles(file('/etc/a', 'one\n')), kernelArguments: ['nosmt'], extensions: ['a'] };
    const after = {
      ...withFiles(file('/etc/a', 'two\n')),
      kernelArguments: ['quiet', 'quiet'],
      kernelType: 'realtime',
      fips: true,
    };
    expect(await shown(before, after)).toBe(
      [
        '~ file /etc/a',
        '    @@ -1,1 +1,1 @@',
        '    -one',
        '    +two',
        '',
        '~ machine settings',
        '    - kernelArguments: nosmt',
        '    + kernelArguments: quiet',
        '    + kernelArguments: quiet',
        '    - extensions: a',
        '    kernelType: default → realtime',
        '    fips: false → true',
        '',
        '0 added, 0 removed, 2 changed',
        '',
      ].join('\n'),
    );
  });

  it('shows a new order of arguments', async () => {
    const diff = await shown({ kernelArguments: ['a', 'b'] }, { kernelArguments: ['b', 'a'] });
    expect(diff).toContain('order of kernelArguments: a b → b a');
  });

  it('is empty between a rendered config and its compressed form', async () => {
    const text = 'a line of text\n'.repeat(60_000);
    const { rendered } = await renderOk([machineConfig('a', withFiles(file('/1', text), file('/2', text)))]);
    expect(JSON.stringify(rendered.spec)).toContain('"gzip"');
    const plain = withFiles(...['/1', '/2'].map((path) => file(path, text, { overwrite: true })));
    expect(await shown(plain, rendered.spec)).toBe('no difference\n');
  });

  it('is empty between absent settings and their defaults', async () => {
    expect(await shown({}, { kernelArguments: [], kernelType: 'default', fips: false, osImageURL: '' })).toBe(
      'no difference\n',
    );
  });

  it('hides secrets by default', async () => {
    const secret = (text: string) => withFiles(file('/etc/kubernetes/kubeconfig', text));
    expect(await shown(secret('one'), secret('two'))).not.toContain('two');
    expect(await shown(secret('one'), secret('two'), { showSecrets: true })).toContain('two');
  });

  it('reports why a config cannot be read', async () => {
    const diff = await diffRendered({ config: { ignition: { version: '9' } } }, {});
    expect(diff).toMatchObject({ items: null, report: [{ kind: 'error', path: 'ignition.version' }] });
  });
});
