export const clusterApiGroup = 'cluster.x-k8s.io';
