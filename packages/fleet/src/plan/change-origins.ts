// Which MachineConfigs caused a difference between two rendered configs.
import type { ItemDiff } from '@slipway/ignition';
import { explain, type Explained } from '../explain.ts';
import type { RenderProvenance } from '../render/diff.ts';
import type { RenderedConfig } from '../render/render-pool.ts';
import type { PlannedChange } from './fleet-plan.ts';

/** A rendered config with the origin of everything in it. */
export interface Explainable {
  readonly rendered: RenderedConfig;
  readonly provenance: RenderProvenance;
}

const PLATFORM = '(platform)';

/** Null for a side without known origins: it was rendered from MachineConfigs that have changed since. */
export function withOrigins(
  items: readonly ItemDiff[],
  before: Explainable | null,
  after: Explainable | null,
): PlannedChange[] {
  const [was, is] = [before, after].map((side) => new Origins(side));
  return items.map((item) => ({
    ...item,
    from: item.change === 'removed' ? [] : (is?.of(item, 'after') ?? []),
    was: item.change === 'added' ? [] : (was?.of(item, 'before') ?? []),
  }));
}

/** The nouns of an explanation by field of the MachineConfig. */
const SETTING_NOUNS: ReadonlyMap<string, string> = new Map([
  ['kernelArguments', 'kernel argument'],
  ['extensions', 'extension'],
  ['kernelType', 'kernel type'],
  ['fips', 'FIPS mode'],
  ['osImageURL', 'OS image'],
  ['baseOSExtensionsContainerImage', 'OS extensions image'],
]);
const IMAGES: ReadonlySet<string> = new Set(['osImageURL', 'baseOSExtensionsContainerImage']);

class Origins {
  /** By noun and name. Several may have set the same setting. */
  readonly #things: ReadonlyMap<string, readonly Explained[]>;
  readonly #isKnown: boolean;

  constructor(side: Explainable | null) {
    this.#isKnown = side !== null;
    // Only compared, never shown: with both forms of a value, because the diff has one of them.
    const things =
      side === null ? [] : [true, false].flatMap((showSecrets) => explain(side, undefined, { showSecrets }));
    this.#things = Map.groupBy(things, ({ noun, name }) => `${noun} ${name}`);
  }

  of(item: ItemDiff, side: 'before' | 'after'): string[] {
    if (!this.#isKnown) return [];
    const found = item.noun === 'machine settings' ? this.#settings(item, side) : this.#thing(item, side);
    return [...new Set(found)];
  }

  #settings({ fields }: ItemDiff, side: 'before' | 'after'): string[] {
    return fields.flatMap((field) => {
      const value = field[side];
      if (value === null) return [];
      const name = field.name.replace(/^order of /, '');
      const values = name === field.name ? [value] : value.split(' ');
      const found = values.flatMap((each) => this.#named(SETTING_NOUNS.get(name) ?? '', each));
      return found.length === 0 && IMAGES.has(name) ? [PLATFORM] : found;
    });
  }

  #thing(item: ItemDiff, side: 'before' | 'after'): string[] {
    const [thing] = this.#things.get(`${item.noun} ${item.name}`) ?? [];
    const keys = item.noun === 'user' ? this.#keys(item, side) : [];
    if (thing === undefined) return keys;
    const changed = [...item.fields.map(({ name }) => name), ...item.contents.map(({ name }) => name)];
    const setters = thing.fields.filter(({ name }) => changed.some((each) => isPartOf(name, each)));
    if (setters.length + keys.length === 0) return [thing.setBy];
    return [...setters.map(({ from }) => from), ...keys];
  }

  /** An explanation lists each key of a user separately. */
  #keys({ name, fields }: ItemDiff, side: 'before' | 'after'): string[] {
    const values = new Set(fields.filter((field) => field.name === 'sshAuthorizedKeys').map((field) => field[side]));
    return [...this.#things.values()]
      .flat()
      .filter((thing) => thing.noun === 'ssh key' && thing.name.startsWith(`${name} `))
      .filter((thing) => values.has(thing.fields[0]?.value ?? ''))
      .map(({ setBy }) => setBy);
  }

  #named(noun: string, name: string): string[] {
    return (this.#things.get(`${noun} ${name}`) ?? []).map(({ setBy }) => setBy);
  }
}

const isPartOf = (field: string, whole: string): boolean =>
  field === whole || field.startsWith(`${whole}.`) || field.startsWith(`${whole}[`);
