import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
import { dataImages } from './data-image.ts';
import { driveMemoryAnnotation } from './names.ts';

const of = (object: 'object' | 'oldObject'): string => `${object}.metadata.?annotations[?'${driveMemoryAnnotation}']`;

/** Who could rewrite it could have an ISO forgotten in a drive, or a medium of somebody else ejected. */
export const dataImageMemoryPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'data-image-memory',
  description: `The annotation ${driveMemoryAnnotation} of a DataImage is written by the controllers alone.`,
  resource: dataImages,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  exempt,
  validations: [
    {
      expression: `${of('object')} == (request.operation == 'CREATE' ? optional.none() : ${of('oldObject')})`,
      message: `the annotation ${driveMemoryAnnotation} of a DataImage is written by the controllers alone`,
      messageExpression: `'of DataImage ' + object.metadata.namespace + '/' + object.metadata.name + ' the annotation ${driveMemoryAnnotation} is written by the controllers alone, which remember by it what is in the drive: leave it ' + (request.operation == 'CREATE' ? 'out of a new DataImage' : 'as it is')`,
    },
  ],
});
