import { ProblemList } from '@slipway/fleet';
import { type Layer, RegistryError } from '@slipway/registry';
import { describe, expect, it } from 'vitest';
import { imageSizes } from './image-list.ts';

const found = (digest: string): Layer[] => [{ digest, mediaType: '', size: 1 }];
const images = Array.from({ length: 50 }, (_, index) => `image-${index}`);

async function listProblems(asking: Promise<unknown>): Promise<readonly { code: string; message: string }[]> {
  const error: unknown = await asking.catch((failure: unknown) => failure);
  return error instanceof ProblemList ? error.problems : [];
}

describe('reading the sizes of images from a registry', () => {
  it('requests each once, a few concurrently, and reports progress', async () => {
    const asked: string[] = [];
    const told: number[] = [];
    let [atOnce, most] = [0, 0];
    const layers = async (reference: string): Promise<Layer[]> => {
      asked.push(reference);
      most = Math.max(most, (atOnce += 1));
      await Promise.resolve();
      atOnce -= 1;
      return found(reference);
    };
    const sizes = await imageSizes(images, { layers }, (done) => told.push(done));
    expect([...sizes.keys()].toSorted()).toEqual(images.toSorted());
    expect(asked).toHaveLength(50);
    expect(told.at(-1)).toBe(50);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('reports every missing image, in the order of the list', async () => {
    const layers = async (reference: string): Promise<Layer[]> => {
      if (reference === 'image-7' || reference === 'image-30') {
        throw new RegistryError('SLW_REGISTRY_NOT_FOUND', `no ${reference}`);
      }
      return found(reference);
    };
    expect(await listProblems(imageSizes(images, { layers }, () => {}))).toEqual([
      { code: 'SLW_REGISTRY_NOT_FOUND', message: 'no image-7' },
      { code: 'SLW_REGISTRY_NOT_FOUND', message: 'no image-30' },
    ]);
  });

  it('stops after a registry proves unreachable', async () => {
    let asked = 0;
    const layers = async (): Promise<Layer[]> => {
      asked += 1;
      throw new RegistryError('SLW_REGISTRY_UNREACHABLE', 'down');
    };
    expect(await listProblems(imageSizes(images, { layers }, () => {}))).not.toEqual([]);
    expect(asked).toBeLessThanOrEqual(8);
  });
});
