// Which image of the marketplace of Azure machines shall boot: by the plan they are paid by, and the generation of their
// virtual hardware. Both can only be told from the image they have.
import { fieldAt, isJsonObject, textAt } from '../json-path.ts';
import type { Architecture, JsonObject } from '../verdict.ts';

export interface MarketplaceImage {
  readonly publisher: string;
  readonly offer: string;
  readonly sku: string;
  readonly version: string;
}

/** As stream metadata names them: one without a price, and paid ones by what is bought, and where. */
export type Plan = 'no-purchase-plan' | `${'ocp' | 'opp' | 'oke'}${'' | '-emea'}`;
export type Generation = 'hyperVGen1' | 'hyperVGen2';

const paid = ['ocp', 'opp', 'oke'] as const;

/** Null: the image is of nobody we know. */
export function planOf({ publisher, offer }: Pick<MarketplaceImage, 'publisher' | 'offer'>): Plan | null {
  if (publisher === 'azureopenshift') return 'no-purchase-plan';
  const product = paid.find((name) => offer === `rh-${name}-worker`);
  if (product === undefined) return null;
  if (publisher === 'redhat') return product;
  return publisher === 'redhat-limited' ? `${product}-emea` : null;
}

/** Machines of aarch64 have only the second generation. */
export function generationOf(plan: Plan, sku: string, architecture: Architecture): Generation {
  if (architecture === 'aarch64') return 'hyperVGen2';
  const isSecond = plan === 'no-purchase-plan' ? sku.includes('v2') : !sku.includes('gen1');
  return isSecond ? 'hyperVGen2' : 'hyperVGen1';
}

const place = ['rhel-coreos-extensions', 'marketplace', 'azure'] as const;

export const hasMarketplace = (images: JsonObject): boolean => isJsonObject(fieldAt(images, ...place));

/** Where it is in stream metadata, for people. */
export const marketplacePlace = (plan: Plan, generation: Generation): string => [...place, plan, generation].join('.');

export function marketplaceImage(images: JsonObject, plan: Plan, generation: Generation): MarketplaceImage | null {
  const found = readMarketplaceImage(fieldAt(images, ...place, plan, generation));
  return found.publisher === '' || found.offer === '' || found.sku === '' || found.version === '' ? null : found;
}

export const readMarketplaceImage = (value: Parameters<typeof textAt>[0]): MarketplaceImage => ({
  publisher: textAt(value, 'publisher'),
  offer: textAt(value, 'offer'),
  sku: textAt(value, 'sku'),
  version: textAt(value, 'version'),
});

/** As the command line of Azure writes it. */
export const urnOf = ({ publisher, offer, sku, version }: MarketplaceImage): string =>
  [publisher, offer, sku, version].join(':');
