export { awsSpec, gcpSpec } from './provider-specs.ts';
export { bootImagesData, olderStream, rhel9, sampleAmi, streamMetadata } from './stream-metadata.ts';
export { buildMachineTemplate, type TemplateCase, templateCases, TEMPLATE_REGION } from './machine-templates.ts';
export type { ImageCase } from './cases/image-case.ts';
export { imageCases, keptOfOlderRelease } from './image-cases.ts';
export { additions, installer3, managedStub, OLD_TOKEN } from './stubs.ts';
