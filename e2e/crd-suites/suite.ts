import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isRecord } from '@slipway/base/json';
import { parse } from 'yaml';

/** A Kubernetes object as a suite writes it; its name may be left out. */
export interface SuiteObject {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; namespace?: string } & Record<string, unknown>;
  status?: unknown;
  [field: string]: unknown;
}

interface Case {
  name: string;
  initial: SuiteObject;
  /** The object afterwards. Left out: as it was written. */
  expected: SuiteObject;
  /** The write of the object must be refused. The text is somebody else's wording: only the path in it counts. */
  expectedError?: string;
}

export interface CreateCase extends Case {
  step: 'onCreate';
}

export interface UpdateCase extends Case {
  step: 'onUpdate';
  updated: SuiteObject;
  /** The write of the status must be refused. */
  expectedStatusError?: string;
  /** JSON patches that make the CRD as it was when the initial object was stored. */
  initialCRDPatches: object[];
}

/** What a case asks for. */
export const readExpectation = (testCase: CreateCase | UpdateCase): 'accept' | 'reject' =>
  testCase.expectedError === undefined && (testCase.step === 'onCreate' || testCase.expectedStatusError === undefined)
    ? 'accept'
    : 'reject';

export interface Suite {
  /** Path below the directory that was loaded. */
  file: string;
  crdName: string;
  cases: (CreateCase | UpdateCase)[];
}

/** Reads the fields of one node of a suite file, and says which one is wrong. */
class Reader {
  readonly #where: string;
  readonly #fields: Record<string, unknown>;

  constructor(where: string, value: unknown) {
    if (!isRecord(value)) throw new Error(`${where}: must be an object`);
    this.#where = where;
    this.#fields = value;
  }

  text(field: string): string {
    const value = this.optionalText(field);
    if (value === undefined) throw new Error(`${this.#where}: ${field} is required`);
    return value;
  }

  optionalText(field: string): string | undefined {
    const value = this.#fields[field];
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw new Error(`${this.#where}: ${field} must be a string`);
    return value;
  }

  list(field: string): unknown[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value)) throw new Error(`${this.#where}: ${field} must be a list`);
    return value;
  }

  inner(field: string): Reader {
    return new Reader(`${this.#where}: ${field}`, this.#fields[field]);
  }

  /** An object, written as YAML in a string. */
  object(field: string): SuiteObject {
    const value: unknown = parse(this.text(field));
    const where = `${this.#where}: ${field}`;
    const object = new Reader(where, value);
    const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
    return { ...object.#fields, apiVersion: object.text('apiVersion'), kind: object.text('kind'), metadata };
  }

  /** The object, or another one where nothing is written. */
  objectOr(field: string, otherwise: SuiteObject): SuiteObject {
    return (this.optionalText(field) ?? '').trim() === '' ? otherwise : this.object(field);
  }
}

function readCase(file: string, step: 'onCreate' | 'onUpdate', value: unknown): CreateCase | UpdateCase {
  const reader = new Reader(`${file}: ${step}`, value);
  const name = reader.text('name');
  const inCase = new Reader(`${file}: ${name}`, value);
  const initial = inCase.object('initial');
  const error = inCase.optionalText('expectedError');
  const shared = { name, initial, ...(error !== undefined && { expectedError: error }) };
  if (step === 'onCreate') return { ...shared, step, expected: inCase.objectOr('expected', initial) };
  const updated = inCase.object('updated');
  const statusError = inCase.optionalText('expectedStatusError');
  return {
    ...shared,
    step,
    updated,
    expected: inCase.objectOr('expected', updated),
    ...(statusError !== undefined && { expectedStatusError: statusError }),
    initialCRDPatches: inCase.list('initialCRDPatches').filter(isRecord),
  };
}

/** Reads one suite from its text. */
export function readSuite(file: string, text: string): Suite {
  const reader = new Reader(file, parse(text));
  const tests = reader.inner('tests');
  return {
    file,
    crdName: reader.text('crdName'),
    cases: (['onCreate', 'onUpdate'] as const).flatMap((step) =>
      tests.list(step).map((value) => readCase(file, step, value)),
    ),
  };
}

/** Every suite below a directory, in the order of their paths. */
export async function loadSuites(directory: string): Promise<Suite[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .toSorted();
  return Promise.all(paths.map(async (path) => readSuite(path, await readFile(join(directory, path), 'utf8'))));
}
