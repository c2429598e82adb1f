// Every revision that a watch delivers of the objects that boot image updates change, so that a test can tell what
// happened in between.
import { bootImageAnnotation } from '@slipway/api';
import { type Client, createInformer, type KubeObject, type Resource } from '@slipway/kube';

/** A JSON object. */
type Json = Readonly<Record<string, unknown>>;

export interface Revision {
  readonly name: string;
  readonly generation: number;
  readonly template: string;
  readonly userData: string;
  /** Whether the resource has our annotation. */
  readonly isMarked: boolean;
}

export interface Revisions {
  readonly all: readonly Revision[];
  stop(this: void): void;
}

export async function recordRevisions(
  client: Client,
  resources: readonly Resource[],
  namespace: string,
): Promise<Revisions> {
  const all: Revision[] = [];
  const abort = new AbortController();
  for (const resource of resources) {
    const informer = createInformer<KubeObject & { spec?: Json }>(client.transport, { resource, namespace });
    informer.onChange((change) => {
      if (change.type !== 'deleted') all.push(readRevision(change.object));
    });
    informer.start(abort.signal);
    await informer.synced;
  }
  return { all, stop: () => abort.abort() };
}

function readRevision({ metadata, spec }: KubeObject & { spec?: Json }): Revision {
  const machine = at(at(spec, 'template'), 'spec');
  return {
    name: metadata.name,
    generation: metadata.generation ?? 0,
    template: textAt(at(machine, 'infrastructureRef'), 'name'),
    userData: textAt(at(machine, 'bootstrap'), 'dataSecretName'),
    isMarked: metadata.annotations?.[bootImageAnnotation] !== undefined,
  };
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const at = (value: Json | undefined, key: string): Json | undefined => {
  const found = value?.[key];
  return isJson(found) ? found : undefined;
};
const textAt = (value: Json | undefined, key: string): string => {
  const found = value?.[key];
  return typeof found === 'string' ? found : '';
};

/** What one resource had in turn, without repetitions: its template and user data. */
export function listValues(revisions: readonly Revision[], name: string): string[] {
  const values = revisions.filter((each) => each.name === name).map((each) => `${each.template} ${each.userData}`);
  return values.filter((value, index) => value !== values[index - 1]);
}

/** How often a value of ours was replaced by an earlier one, or our annotation disappeared. */
export function countTakenBack(revisions: readonly Revision[], name: string): number {
  const values = listValues(revisions, name);
  const marks = revisions.filter((each) => each.name === name).map(({ isMarked }) => isMarked);
  const returns = values.filter((value, index) => values.indexOf(value) < index);
  const unmarked = marks.filter((isMarked, index) => !isMarked && marks[index - 1] === true);
  return returns.length + unmarked.length;
}

/** The API server counts them in metadata.generation. */
export function countSpecChanges(revisions: readonly Revision[], name: string): number {
  const generations = revisions.filter((each) => each.name === name).map(({ generation }) => generation);
  return Math.max(...generations) - Math.min(...generations);
}
