import { pushImage, type RegistryAccess } from '@slipway/tools/registry';

export interface Workload {
  /** The name in the result lines. */
  readonly name: string;
  readonly count: number;
  /** Size of each image; incompressible. */
  readonly bytes: number;
}

export const WORKLOADS: readonly Workload[] = [
  { name: '100 small images', count: 100, bytes: 20_000 },
  { name: '500 small images', count: 500, bytes: 20_000 },
  { name: '10 images of 200 MB', count: 10, bytes: 200_000_000 },
];

const AT_ONCE = 8;

/** Images without common layers, by digest. */
export async function pushImages(registry: RegistryAccess, { count, bytes }: Workload): Promise<string[]> {
  const images: string[] = [];
  const numbers = Array.from({ length: count }, (_, index) => index).values();
  const push = async (): Promise<void> => {
    for (const index of numbers) {
      const files = [{ path: `of-${count}/${index}`, randomBytes: bytes }];
      images.push(await pushImage(registry, `bench/of-${count}-${index}`, { layers: [{ files }] }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, push));
  return images.toSorted();
}
