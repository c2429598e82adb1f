// The documents of manifest files: JSON or YAML, several in one file, lists taken apart.
import { createReadStream } from 'node:fs';
import { isRecord } from '@slipway/base/json';
import { CommandError, InputError } from '../cli/errors.ts';
import { readYamlDocuments } from '../ignition/manifest-yaml.ts';
import { reasonOf, STDIN } from './find-files.ts';

export interface ManifestDocument {
  /** Where it stands, as messages say it: `fleet.yaml, document 2, item 5`. */
  place: string;
  value: unknown;
}

const MEBIBYTE = 1024 * 1024;
/** A dump of a large cluster has tens of MiB; `rendered-` objects are most of it. */
const MAX_FILE_BYTES = 128 * MEBIBYTE;
/** Reading YAML takes some ten times the memory and time of JSON. */
const MAX_YAML_CHARACTERS = 32 * MEBIBYTE;

/** The bytes of a file, or of stdin. */
export async function readText(file: string, stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file === STDIN ? stdin : createReadStream(file)) {
      const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.byteLength;
      if (size > MAX_FILE_BYTES) {
        throw new CommandError(
          'SLW_CLI_MANIFEST',
          `${nameOfFile(file)} is larger than ${MAX_FILE_BYTES / MEBIBYTE} MiB; split it, or leave out what is not a MachineConfig, MachineConfigPool or ConfigMap`,
        );
      }
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('SLW_CLI_MANIFEST', `${nameOfFile(file)} cannot be read: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return new TextDecoder('utf-8').decode(Buffer.concat(chunks));
}

const nameOfFile = (file: string): string => (file === STDIN ? 'stdin' : file);

/** What a file holds, lists taken apart. Throws where it is neither JSON nor YAML. */
export function documentsOf(file: string, text: string): ManifestDocument[] {
  const name = nameOfFile(file);
  const values = valuesOf(name, text);
  return values.flatMap((value, index) => {
    if (value === undefined || value === null) return [];
    const place = values.length === 1 ? name : `${name}, document ${index + 1}`;
    return takeApart({ place, value });
  });
}

function valuesOf(name: string, text: string): unknown[] {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // YAML's own braces look the same.
    }
  }
  try {
    return readYamlDocuments(name, text, MAX_YAML_CHARACTERS);
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
    const hint = text.length > MAX_YAML_CHARACTERS ? '; JSON (kubectl get -o json) may be larger' : '';
    throw new CommandError('SLW_CLI_MANIFEST', `${failure.message}${hint}`);
  }
}

/** `kind: List` of kubectl, and the lists of one kind that the API itself gives, whose items carry no kind. */
function takeApart(document: ManifestDocument): ManifestDocument[] {
  const { place, value } = document;
  if (!isRecord(value)) return [document];
  const { apiVersion, kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  const header = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.map((item: unknown, index) => ({
    place: `${place}, item ${index + 1}`,
    value: isRecord(item) ? { ...header, ...item } : item,
  }));
}
