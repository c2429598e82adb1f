import type { Architecture, BootImageCode, ImageVerdict, Platform } from '../../verdict.ts';
import type { JsonObject } from '../../json.ts';

export interface ImageCase {
  /** Also a name for an object. */
  readonly name: string;
  readonly platform: Platform;
  /** x86_64 by default. */
  readonly architecture?: Architecture;
  readonly azureCloud?: string;
  readonly isAdopted?: boolean;
  /** providerSpec.value. */
  readonly spec: JsonObject;
  readonly verdict: ImageVerdict['type'];
  readonly code?: BootImageCode;
  /** The image afterwards, or the one that the user must import. */
  readonly to?: string;
  readonly version?: string;
  /** providerSpec.value afterwards; left out: as before. The reference to user data is not the rule's. */
  readonly after?: JsonObject;
}
