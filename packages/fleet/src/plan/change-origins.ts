// Which MachineConfigs caused a difference between two rendered configs.
import type { ItemDiff } from '@slipway/ignition';
import { listNames } from '@slipway/base/text';
import { explain, type Explained, nounOfList } from '../explain.ts';
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

interface FieldMessage {
  /** Such as `spec.fips`. */
  readonly field: string;
  /** Null: absent in the new config. */
  readonly after?: string | null;
  readonly message: string;
}

/** A message about a rendered config names the MachineConfigs that cause the change instead, if they are known. */
export function withCauses<T extends FieldMessage>(
  found: readonly T[],
  rendered: string,
  { before, after }: { before: Explainable | null; after: Explainable | null },
): T[] {
  if (found.length === 0) return [];
  const [was, is] = [new Origins(before), new Origins(after)];
  return found.map((each) => {
    const now = each.after === null ? [] : is.ofField(each.field);
    const names = now.length > 0 ? now : was.ofField(each.field);
    const object = `MachineConfig ${rendered}`;
    if (names.length === 0 || !each.message.startsWith(object)) return each;
    const causes = `MachineConfig${names.length === 1 ? '' : 's'} ${listNames(names.sort(), { max: 10 })}`;
    return Object.assign({}, each, { message: causes + each.message.slice(object.length) });
  });
}

const ITEM_FIELD = /^spec\.config\.(\w+\.\w+)\[(.*)\](?:\.([^\]]+))?$/;

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

  /** By a field, such as `spec.fips` or `spec.config.storage.disks[/dev/sda].wipeTable`. */
  ofField(field: string): string[] {
    const setting = SETTING_NOUNS.get(field.slice('spec.'.length));
    if (setting !== undefined) return this.#ofNoun(setting);
    const [, list = '', name = '', leaf = ''] = ITEM_FIELD.exec(field) ?? [];
    const noun = nounOfList(list);
    if (noun === undefined) return field === 'spec.config.kernelArguments' ? this.#ofNoun('boot argument') : [];
    const things = this.#things.get(`${noun} ${name}`) ?? [];
    const setters = things.flatMap(({ fields }) => fields.filter((each) => leaf === '' || isPartOf(each.name, leaf)));
    const found = setters.length > 0 ? setters.map(({ from }) => from) : things.map(({ setBy }) => setBy);
    return [...new Set(found)];
  }

  #ofNoun(noun: string): string[] {
    const things = [...this.#things.values()].flat().filter((thing) => thing.noun === noun);
    return [...new Set(things.map(({ setBy }) => setBy))];
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
