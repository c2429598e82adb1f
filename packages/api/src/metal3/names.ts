export const metal3Group = 'metal3.io';

/** What the controller is in the middle of with the drive of a host: of a DataImage. */
export const driveMemoryAnnotation = 'slipway.dev/data-image';
