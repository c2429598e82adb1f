import { managedByLabel } from '../../kube-object.ts';
import { copyNameOf, copyOfAnnotation } from './stub-secret.ts';

interface SecretMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

/** Whether it may go once nobody refers to it: a copy that we made, on which nobody else has put a hand. */
export function isCollectableCopy({
  name,
  labels,
  annotations,
  finalizers,
  deletionTimestamp,
}: SecretMetadata): boolean {
  const original = annotations?.[copyOfAnnotation];
  const isOurs = labels?.[managedByLabel] === 'slipway' && original !== undefined && name === copyNameOf(original);
  return isOurs && (finalizers ?? []).length === 0 && deletionTimestamp === undefined;
}
