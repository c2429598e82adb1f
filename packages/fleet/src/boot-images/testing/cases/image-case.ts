import type { Architecture, BootImageCode, ImageVerdict, Platform } from '../../verdict.ts';
import type { JsonObject } from '../../json.ts';

export interface ImageCase {
  /** Also a name for an object. */
  readonly name: string;
  readonly platform: Platform;
  /** x86_64 where it is not said. */
  readonly architecture?: Architecture;
  readonly azureCloud?: string;
  readonly isAdopted?: boolean;
  /** providerSpec.value. */
  readonly spec: JsonObject;
  readonly verdict: ImageVerdict['type'];
  readonly code?: BootImageCode;
  /** What it boots afterwards, or what a person is to import. */
  readonly to?: string;
  readonly version?: string;
  /** providerSpec.value afterwards; left out: as before. The reference to user data is not the rule's. */
  readonly after?: JsonObject;
}
