// How much a machine fetches for another OS, as far as a registry tells.
import { formatProblem, type Stream } from '@slipway/fleet';
import type { Registry } from '@slipway/registry';

export interface Download {
  readonly osImage: string;
  /** As it is transferred; null: not known, `problem` says why. A machine fetches less where it has some of the layers. */
  readonly osBytes: number | null;
  /** Null: the pool has no extensions, so that its machines do not fetch them. */
  readonly osExtensionsImage: string | null;
  readonly extensionsBytes: number | null;
  /** All that one machine fetches at most. */
  readonly bytesPerMachine: number | null;
  readonly problem: string | null;
}

/** A registry that cannot be asked is no reason not to say the rest. */
export async function downloadOf(
  { osImage, osExtensionsImage }: Stream,
  needsExtensions: boolean,
  registry: Pick<Registry, 'inspect'>,
): Promise<Download> {
  const images = { osImage, osExtensionsImage: needsExtensions ? osExtensionsImage : null };
  try {
    const { size: osBytes } = await registry.inspect(osImage);
    const extensionsBytes = needsExtensions ? (await registry.inspect(osExtensionsImage)).size : null;
    const bytesPerMachine = osBytes + (extensionsBytes ?? 0);
    return { ...images, osBytes, extensionsBytes, bytesPerMachine, problem: null };
  } catch (error) {
    if (!hasOurCode(error)) throw error;
    const problem = formatProblem(error);
    return { ...images, osBytes: null, extensionsBytes: null, bytesPerMachine: null, problem };
  }
}

const hasOurCode = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SLW_');
