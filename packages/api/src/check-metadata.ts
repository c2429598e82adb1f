// Metadata, as kube-apiserver checks it for every kind: the CRDs do not describe it.
import type { Kind } from './kind.ts';
import { objectMetaSchema } from './object-meta.ts';
import { fieldPath, isObject, itemPath, type Problem, Problems, show, showFound } from './problem.ts';
import { checkSchema } from './validate.ts';

/** Why kube-apiserver would refuse the metadata of a new object. */
export function checkMetadata(kind: Kind, value: unknown): Problem[] {
  const metadata = isObject(value) ? (value['metadata'] ?? {}) : {};
  const wrongTypes = checkSchema(objectMetaSchema, metadata, 'metadata');
  if (wrongTypes.length > 0 || !isObject(metadata)) return wrongTypes;
  const problems = new Problems();
  checkNames(kind, metadata, problems);
  for (const [key, label] of textsIn(metadata['labels'])) {
    const path = fieldPath('metadata.labels', key);
    for (const message of findKeyProblems(key, isSubdomain)) problems.add(path, message);
    for (const message of findLabelProblems(label)) problems.add(path, message);
  }
  checkAnnotations(metadata['annotations'], problems);
  checkFinalizers(metadata['finalizers'], problems);
  checkOwners(metadata['ownerReferences'], problems);
  return [...problems.found];
}

const MAX_NAME = 253;
/** Of a namespace, a label and the name in a key. */
const MAX_LABEL = 63;
const ENDS = 'and start and end with a letter or digit';
const SUBDOMAIN = `must consist of lower-case letters, digits, "-" and ".", ${ENDS}`;
const QUALIFIED = `must consist of letters, digits, "-", "_" and ".", ${ENDS}`;
const LABEL_PATTERN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED_PATTERN = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const isSubdomain = (name: string): boolean => name.split('.').every((part) => LABEL_PATTERN.test(part));
const isSubdomainInAnyCase = (name: string): boolean => isSubdomain(name.toLowerCase());

const tooLong = (text: string, max: number): string => `must have at most ${max} characters, has ${text.length}`;

function findNameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME) return tooLong(name, MAX_NAME);
  if (isSubdomain(name)) return undefined;
  const inner = /[.-]\.|\.[.-]/.test(name) ? ', and so must each part between dots' : '';
  return `${SUBDOMAIN}${inner}, ${showFound(name)}`;
}

function checkNames(kind: Kind, { name, generateName, namespace }: Record<string, unknown>, problems: Problems): void {
  if (typeof name === 'string' && name !== '') {
    const problem = findNameProblem(name);
    if (problem !== undefined) problems.add('metadata.name', problem);
  } else {
    const why = generateName ? 'is required: kubectl apply does not accept generateName' : 'is required';
    problems.add('metadata.name', why);
  }
  if (typeof generateName === 'string' && generateName !== '') {
    // The server appends letters and digits.
    const problem = findNameProblem(generateName.replace(/-$/, ''));
    if (problem !== undefined) problems.add('metadata.generateName', `${SUBDOMAIN}, ${showFound(generateName)}`);
  }
  if (kind.namespaced && typeof namespace === 'string' && namespace !== '') {
    const isName = namespace.length <= MAX_LABEL && LABEL_PATTERN.test(namespace);
    const rule = `must consist of at most ${MAX_LABEL} lower-case letters, digits and "-", ${ENDS}`;
    if (!isName) problems.add('metadata.namespace', `${rule}, ${showFound(namespace)}`);
  }
}

/** The entries of a map. In JSON, null is accepted as an empty text. */
const textsIn = (value: unknown): [string, string][] =>
  Object.entries(isObject(value) ? value : {}).map(([key, text]) => [key, typeof text === 'string' ? text : '']);

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Keys of labels and annotations, and finalizers: an optional domain and a slash, then a name. */
function findKeyProblems(key: string, isDomain: (domain: string) => boolean): string[] {
  if (key === '') return ['the key must not be empty'];
  const parts = key.split('/');
  if (parts.length > 2) return ['the key may contain one "/", between a domain and a name, as in example.com/name'];
  const name = parts.at(-1) ?? '';
  const found: string[] = [];
  const [domain] = parts.length === 2 ? parts : [];
  if (domain === '') found.push(`the key must have a domain before the "/", as in example.com/${name || 'name'}`);
  else if (domain !== undefined && domain.length > MAX_NAME) found.push(`the domain ${tooLong(domain, MAX_NAME)}`);
  else if (domain !== undefined && !isDomain(domain)) found.push(`the domain before the "/" ${SUBDOMAIN}`);
  if (name === '') found.push('the key must have a name after the "/"');
  else if (name.length > MAX_LABEL) found.push(`the name in the key ${tooLong(name, MAX_LABEL)}`);
  else if (!QUALIFIED_PATTERN.test(name)) found.push(`the key ${QUALIFIED}`);
  return found;
}

function findLabelProblems(label: string): string[] {
  if (label.length > MAX_LABEL) return [`the value ${tooLong(label, MAX_LABEL)}`];
  if (label === '' || QUALIFIED_PATTERN.test(label)) return [];
  return [`the value must be empty, or ${QUALIFIED.replace('must ', '')}, ${showFound(label)}`];
}

/** Of all keys and values together. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

function checkAnnotations(value: unknown, problems: Problems): void {
  let bytes = 0;
  for (const [key, text] of textsIn(value)) {
    const path = fieldPath('metadata.annotations', key);
    for (const message of findKeyProblems(key, isSubdomainInAnyCase)) problems.add(path, message);
    bytes += countBytes(key) + countBytes(text);
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    problems.add('metadata.annotations', `must have at most ${MAX_ANNOTATION_BYTES} bytes in total, have ${bytes}`);
  }
}

const countBytes = (text: string): number => new TextEncoder().encode(text).length;

function checkFinalizers(value: unknown, problems: Problems): void {
  const finalizers = listIn(value);
  for (const [index, finalizer] of finalizers.entries()) {
    const found = typeof finalizer === 'string' ? findKeyProblems(finalizer, isSubdomain) : [];
    for (const message of found) {
      const text = message.replace('the key', 'the finalizer');
      problems.add(itemPath('metadata.finalizers', index), `${text}, ${showFound(finalizer)}`);
    }
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    problems.add('metadata.finalizers', 'must not contain both orphan and foregroundDeletion: remove one');
  }
}

function checkOwners(value: unknown, problems: Problems): void {
  const owners = listIn(value).filter(isObject);
  for (const [index, owner] of owners.entries()) {
    const path = itemPath('metadata.ownerReferences', index);
    for (const field of ['kind', 'name', 'uid'])
      if (owner[field] === '') problems.add(`${path}.${field}`, 'is required');
    const found = owner['apiVersion'];
    if (typeof found === 'string' && !isApiVersion(found)) {
      problems.add(
        `${path}.apiVersion`,
        `must be a version, or a group and a version as in apps/v1, ${showFound(found)}`,
      );
    }
    if (found === 'v1' && owner['kind'] === 'Event') problems.add(`${path}.kind`, 'an Event cannot be an owner');
  }
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const names = controllers.map(({ kind, name }) => `${String(kind)} ${show(name)}`).join(' and ');
    problems.add('metadata.ownerReferences', `only one owner may have controller: true, found ${names}`);
  }
}

function isApiVersion(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.at(-1) !== '';
}
