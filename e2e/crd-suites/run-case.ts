import { randomUUID } from 'node:crypto';
import { untilFound } from '@slipway/testing/wait';
import type { ApiResponse, Cluster } from './cluster.ts';
import { objectDifferences } from './difference.ts';
import { underEarlierSchema } from './earlier-schema.ts';
import { collectionPath, type InstalledCrd } from './installed-crd.ts';
import { wrongRefusal, type Wording } from './refusal.ts';
import type { CreateCase, SuiteObject, UpdateCase } from './suite.ts';

export interface CaseVerdict {
  /** What the server said where it refused, in our wording. */
  refusal?: string;
  /** Why the case does not hold. Left out, it does. */
  wrong?: string;
}

type StoredObject = Record<string, unknown> & { metadata: { resourceVersion: string } };

/** The one object of a case, under a name of its own where the suite gives none, so that cases do not meet. */
class Subject {
  readonly #cluster: Cluster;
  readonly #crd: InstalledCrd;
  readonly #identity: { name: string; namespace?: string };

  constructor(cluster: Cluster, crd: InstalledCrd, { metadata }: SuiteObject) {
    this.#cluster = cluster;
    this.#crd = crd;
    this.#identity = {
      name: metadata.name ?? `test-${randomUUID().slice(0, 8)}`,
      ...(crd.spec.scope === 'Namespaced' && { namespace: 'default' }),
    };
  }

  #path(apiVersion: string): string {
    return `${collectionPath(this.#crd, apiVersion)}/${this.#identity.name}`;
  }

  read(apiVersion: string): Promise<ApiResponse<StoredObject>> {
    return this.#cluster.request('GET', this.#path(apiVersion));
  }

  create(object: SuiteObject): Promise<ApiResponse<StoredObject>> {
    const body = { ...object, metadata: { ...object.metadata, ...this.#identity } };
    return this.#cluster.request('POST', collectionPath(this.#crd, object.apiVersion), body);
  }

  async replace(object: SuiteObject, subresource: '' | '/status' = ''): Promise<ApiResponse<StoredObject>> {
    const current = await this.read(object.apiVersion);
    if (!current.ok) return current;
    const { resourceVersion } = current.body.metadata;
    const body = { ...object, metadata: { ...object.metadata, ...this.#identity, resourceVersion } };
    return this.#cluster.request('PUT', `${this.#path(object.apiVersion)}${subresource}`, body);
  }

  async remove(apiVersion: string): Promise<void> {
    const path = this.#path(apiVersion);
    await this.#cluster.request('DELETE', path);
    await untilFound(`the deletion of ${path}`, async () => {
      if (!(await this.read(apiVersion)).ok) return true;
      await this.#cluster.request('PATCH', path, [{ op: 'remove', path: '/metadata/finalizers' }]);
      return undefined;
    });
  }
}

const asAccepted = (answer: ApiResponse<unknown>, what: string): CaseVerdict =>
  answer.ok ? {} : { wrong: `${what} should be accepted, but: ${answer.status} ${answer.message}` };

function asRefused(answer: ApiResponse<unknown>, expectedError: string, what: string, wording: Wording): CaseVerdict {
  const wrong = wrongRefusal(answer, expectedError, wording);
  if (wrong !== undefined) return { wrong: `${what} ${wrong}` };
  return answer.ok ? {} : { refusal: answer.message };
}

async function compare(subject: Subject, expected: SuiteObject): Promise<CaseVerdict> {
  const stored = await subject.read(expected.apiVersion);
  if (!stored.ok) return asAccepted(stored, 'reading it back');
  const found = objectDifferences(expected, stored.body);
  return found.length === 0 ? {} : { wrong: found.join('; ') };
}

async function runCreate(subject: Subject, testCase: CreateCase, wording: Wording): Promise<CaseVerdict> {
  const { initial, expected, expectedError } = testCase;
  const created = await subject.create(initial);
  if (expectedError !== undefined) return asRefused(created, expectedError, 'the object', wording);
  return created.ok ? compare(subject, expected) : asAccepted(created, 'the object');
}

/** Stores the initial object, its status included. */
async function store(subject: Subject, initial: SuiteObject): Promise<CaseVerdict> {
  const created = await subject.create(initial);
  if (!created.ok || initial.status === undefined) return asAccepted(created, 'the initial object');
  return asAccepted(await subject.replace(initial, '/status'), 'the status of the initial object');
}

async function update(subject: Subject, testCase: UpdateCase, wording: Wording): Promise<CaseVerdict> {
  const { updated, expected, expectedError, expectedStatusError } = testCase;
  const written = await subject.replace(updated);
  if (expectedError !== undefined) return asRefused(written, expectedError, 'the update', wording);
  if (!written.ok) return asAccepted(written, 'the update');
  if (updated.status === undefined) {
    return expectedStatusError === undefined
      ? compare(subject, expected)
      : { wrong: 'expects the status to be refused, but writes none' };
  }

  const status = await subject.replace(updated, '/status');
  if (expectedStatusError !== undefined) return asRefused(status, expectedStatusError, 'the update of status', wording);
  return status.ok ? compare(subject, expected) : asAccepted(status, 'the update of status');
}

/** Runs one case and leaves nothing of it behind. */
export async function runCase(
  cluster: Cluster,
  crd: InstalledCrd,
  testCase: CreateCase | UpdateCase,
  wording: Wording,
): Promise<CaseVerdict> {
  const { initial } = testCase;
  const subject = new Subject(cluster, crd, initial);
  try {
    if (testCase.step === 'onCreate') return await runCreate(subject, testCase, wording);
    const stored = await underEarlierSchema(cluster, crd, testCase.initialCRDPatches, initial, () =>
      store(subject, initial),
    );
    return stored.wrong === undefined ? await update(subject, testCase, wording) : stored;
  } finally {
    await subject.remove(initial.apiVersion);
  }
}
