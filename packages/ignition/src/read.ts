// Reads a decoded value by the table of a spec: checks types, reports unknown keys, builds the normal form.
import { type Findings, formatPath, nameType, show } from './report.ts';
import { type Field, isZero, type Kind, type Shape, getZeroValue } from './spec/field.ts';
import type { AnyConfig } from './spec/index.ts';

type Plain = Record<string, unknown>;

/** Null if the value is not an object at all; otherwise whatever could be read, with every error in the findings. */
export function readConfig(shape: Shape, value: unknown, findings: Findings): AnyConfig | null {
  if (!isPlainObject(value)) {
    findings.error('', `the config is ${nameType(value)}: expected an object`);
    return null;
  }
  const config: Plain = new Reader(findings).readObject(shape, value);
  return config as AnyConfig;
}

class Reader {
  readonly #findings: Findings;
  readonly #at: (string | number)[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  readObject(shape: Shape, value: Plain): Plain {
    const result: Plain = {};
    let known = 0;
    for (const [name, field] of shape.entries) {
      const found = value[name];
      if (found !== undefined) known += 1;
      this.#readField(result, name, field, found);
    }
    const keys = Object.keys(value);
    if (keys.length !== known) this.#reportUnknown(shape, keys);
    return result;
  }

  #readField(result: Plain, name: string, field: Field, found: unknown): void {
    if (found === undefined || found === null) {
      if (field.presence === 'always') result[name] = getZeroValue(field.kind);
      return;
    }
    this.#at.push(name);
    const read = this.#read(field.kind, found);
    this.#at.pop();
    if (field.presence === 'nonzero' && isZero(read)) return;
    result[name] = read;
  }

  #read(kind: Kind, value: unknown): unknown {
    switch (kind.type) {
      case 'int':
        return this.#readInt(kind, value);
      case 'bool':
        return typeof value === 'boolean' ? value : this.#wrongType('true or false', kind, value);
      case 'list':
        return Array.isArray(value) ? this.#readList(kind.item, value) : this.#wrongType('a list', kind, value);
      case 'object':
        return isPlainObject(value) ? this.readObject(kind, value) : this.#wrongType('an object', kind, value);
      default:
        return typeof value === 'string' ? wellFormed(value) : this.#wrongType('a string', kind, value);
    }
  }

  #readList(item: Kind, value: readonly unknown[]): unknown[] {
    const result: unknown[] = [];
    for (let index = 0; index < value.length && !this.#findings.hopeless; index += 1) {
      const found = value[index];
      this.#at.push(index);
      result.push(found === null || found === undefined ? getZeroValue(item) : this.#read(item, found));
      this.#at.pop();
    }
    return result;
  }

  #readInt(kind: Kind, value: unknown): unknown {
    if (typeof value !== 'number') return this.#notAnInteger(kind, value);
    if (!Number.isInteger(value)) return this.#refuse(kind, () => `expected a whole number, found ${value}`);
    if (!Number.isSafeInteger(value)) {
      return this.#refuse(
        kind,
        () => `the number ${value} is too large to be stored exactly: expected at most ±9007199254740991`,
      );
    }
    return value + 0; // -0 becomes 0
  }

  #notAnInteger(kind: Kind, value: unknown): unknown {
    const written = writtenNumber(value);
    if (typeof value === 'string' && DIGITS.test(value)) {
      return this.#refuse(
        kind,
        () => `expected a whole number, found a string: write ${writeNumber(value)} without quotes`,
      );
    }
    if (written === null) return this.#wrongType('a whole number', kind, value);
    return this.#refuse(kind, () => `the number ${show(written)} is not written as a whole number`);
  }

  #wrongType(expected: string, kind: Kind, value: unknown): unknown {
    return this.#refuse(kind, () => `expected ${expected}, found ${nameType(value)}`);
  }

  #refuse(kind: Kind, message: () => string): unknown {
    this.#findings.addIfRoom('error', () => ({ path: formatPath(this.#at), message: message() }));
    return getZeroValue(kind);
  }

  #reportUnknown(shape: Shape, keys: readonly string[]): void {
    for (const key of keys) {
      if (Object.hasOwn(shape.fields, key)) continue;
      const meant = otherCase(shape, key);
      if (meant === undefined) {
        this.#findings.addIfRoom('warning', () => ({
          path: this.#pathOf(key),
          message: `the key ${show(key)} is not part of this spec version and is ignored`,
        }));
      } else {
        // The Go client would accept it as the field; dropping it with a warning would silently change the machine.
        this.#findings.addIfRoom('error', () => ({
          path: this.#pathOf(key),
          message: `the key ${show(key)} has the wrong case: write ${show(meant)}`,
        }));
      }
    }
  }

  #pathOf(key: string): string {
    return formatPath([...this.#at, key]);
  }
}

const foldedNames = new WeakMap<Shape, ReadonlyMap<string, string>>();

const DIGITS = /^\d{1,15}$/;

/** With a leading zero it is octal, which JSON does not have. */
function writeNumber(digits: string): string {
  return /^0[0-7]+$/.test(digits) ? `${Number.parseInt(digits, 8)}, or ${digits} in YAML,` : String(Number(digits));
}

/** A number not written as an integer, which the scan of the text has marked as a list of one string. */
function writtenNumber(value: unknown): string | null {
  return Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : null;
}

/** The field that a case-insensitive reader would match with this key. */
function otherCase(shape: Shape, key: string): string | undefined {
  if (key.length > MAX_KEY_CHARS) return undefined;
  let names = foldedNames.get(shape);
  if (names === undefined) {
    names = new Map(shape.entries.map(([name]) => [fold(name), name]));
    foldedNames.set(shape, names);
  }
  const name = names.get(fold(key));
  return name?.length === key.length ? name : undefined;
}

const MAX_KEY_CHARS = 64;

/** Upper and lower case together also fold the long s and the Kelvin sign, as the Go decoder does. */
function fold(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** Half a surrogate pair has no UTF-8 encoding: like the Go decoder, use the replacement character. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function isPlainObject(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // An object of another realm is plain too; a Date or a Map is not.
  return Object.prototype.toString.call(value) === '[object Object]' && Object.getPrototypeOf(prototype) === null;
}
