// Asks the registry for every image before any machine does: how large it is, and whether it is there at all.
import { isRegistryError, type Registry } from '@slipway/registry';
import type { SizedImage } from '@slipway/fleet';
import { ProblemList } from '@slipway/fleet';

/** Images that are asked about at once; the client of the registry has a limit of its own for each host. */
const AT_ONCE = 8;

export async function imageSizes(
  images: readonly string[],
  registry: Pick<Registry, 'layers'>,
  onDone: (done: number) => void,
): Promise<ReadonlyMap<string, SizedImage>> {
  const sizes = new Map<string, SizedImage>();
  const failures = new Map<string, { code: string; message: string }>();
  const waiting = [...images];
  const work = async (): Promise<void> => {
    for (let image = waiting.shift(); image !== undefined; image = waiting.shift()) {
      try {
        sizes.set(image, { layers: await registry.layers(image) });
      } catch (error) {
        // Whatever a registry does is foreseen; anything else is a bug.
        if (!isRegistryError(error)) throw error;
        failures.set(image, error);
        // One that does not answer for one image does not for five hundred others.
        if (error.passing) waiting.length = 0;
      }
      onDone(sizes.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const problems = images.flatMap((image) => failures.get(image) ?? []);
  if (problems.length > 0) throw new ProblemList(problems.map(({ code, message }) => ({ code, message })));
  return sizes;
}
