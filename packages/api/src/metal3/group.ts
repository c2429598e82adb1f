export const metal3Group = 'metal3.io';
