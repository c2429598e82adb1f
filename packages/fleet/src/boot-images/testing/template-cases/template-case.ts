import type { TemplateKindName } from '../../platforms/index.ts';
import type { JsonObject } from '../../json.ts';
import type { Architecture, BootImageCode, ImageVerdict } from '../../verdict.ts';

export interface TemplateCase {
  /** Also a name for an object. */
  readonly name: string;
  readonly kind: TemplateKindName;
  readonly apiVersion: string;
  /** x86_64 by default. */
  readonly architecture?: Architecture;
  readonly isAdopted?: boolean;
  /** spec.template.spec. */
  readonly spec: JsonObject;
  readonly verdict: ImageVerdict['type'];
  readonly code?: BootImageCode;
  /** The image afterwards, or the one that the user must import. */
  readonly to?: string;
  readonly version?: string;
  /** spec.template.spec afterwards; left out: as before. */
  readonly after?: JsonObject;
}
