// The image in an infrastructure template: another form of what a providerSpec says, so the rule of the platform is one, and
// here is only where the template has what.
import { shown } from '../json-path.ts';
import type { ImageQuestion, ImageRule, ImageVerdict, Json, JsonObject } from '../verdict.ts';
import { templateCommands } from './template-commands.ts';

/** What a template does not say of its machines. */
export interface TemplatePlace {
  /** '' where it is not known. */
  readonly region: string;
}

/** `spec`: spec.template.spec of the template. */
export type TemplateRule = (spec: JsonObject, question: ImageQuestion, place: TemplatePlace) => ImageVerdict;

/** A template seen as a providerSpec. Fields are those of spec.template.spec that change; null takes one away. */
export interface ProviderSpecView {
  /** Such as vspheremachinetemplates. */
  readonly plural: string;
  readonly rule: ImageRule;
  readonly providerSpec: JsonObject;
  /** The image for people; left out: as the rule has it. */
  readonly image?: string;
  /** After a change: out of the changed providerSpec. Platforms where images are imported know none. */
  readonly changed?: (providerSpec: JsonObject) => JsonObject;
  /** For what a person has imported under a name. */
  readonly imported: (name: string) => JsonObject;
}

export function verdictOfView(spec: JsonObject, view: ProviderSpecView, question: ImageQuestion): ImageVerdict {
  const verdict = view.rule(view.providerSpec, question);
  const image = view.image ?? verdict.image;
  if (verdict.type === 'change') {
    return { ...verdict, image, spec: withFields(spec, view.changed?.(verdict.spec) ?? {}) };
  }
  if (verdict.type !== 'manual') return { ...verdict, image };
  // The last command of a rule lets a MachineSet of the Machine API use the image; the others bring it to the platform.
  const toImport = verdict.commands.slice(0, -1);
  const toUse = templateCommands(question.resource, view.plural, verdict.artifact.version, view.imported(verdict.to));
  return { ...verdict, image, commands: [...toImport, ...toUse] };
}

/** Nothing else changes, not even the order of fields. */
function withFields(spec: JsonObject, fields: JsonObject): JsonObject {
  const isGone = (key: string): boolean => Object.hasOwn(fields, key) && fields[key] === null;
  return Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(([key]) => !isGone(key)));
}

/** A field of the template is not as its provider has it. */
export const badTemplate = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `spec.template.spec.${path} of the template: expected ${expected}, found ${shown(found)}. Refer to a template that has it, or opt the machines out of boot image updates.`,
});

/** The name that the image of the installer would have; for images that are named by something that tells nothing. */
export const ownImageName = ({ infrastructureName, resource }: ImageQuestion): string =>
  `${infrastructureName || resource.name}-rhcos`;
