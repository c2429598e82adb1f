import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { isRenderedAs, renderedName } from './rendered-name.ts';

const spec = { kernelArguments: ['nosmt'], config: { ignition: { version: '3.5.0' } } };
const name = await renderedName('worker', new TextEncoder().encode(canonicalJson(spec)));

describe('the name of a rendered config', () => {
  it('is that of its spec, whatever the order of the fields', async () => {
    const { config, kernelArguments } = spec;
    expect(await isRenderedAs(name, 'worker', { config, kernelArguments })).toBe(true);
  });

  it.each([
    ['something of it is missing', 'worker', { config: spec.config }],
    ['all of it is missing', 'worker', undefined],
    ['it was rendered for another pool', 'infra', spec],
  ])('is another one if %s', async (_, pool, other) => {
    expect(await isRenderedAs(name, pool, other)).toBe(false);
  });

  it('says nothing of packed contents, which may have been packed to fit', async () => {
    const contents = { source: 'data:;base64,H4sI', compression: 'gzip' };
    const packed = { config: { ...spec.config, storage: { files: [{ path: '/a', contents }] } } };
    expect(await isRenderedAs(name, 'worker', packed)).toBe(true);
  });
});
