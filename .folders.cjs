const base = require('./.dependency-cruiser.cjs');
module.exports = { forbidden: [{ name: 'no-circles-between-folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } }], options: { ...base.options, exclude: { path: '\\.spec\\.ts$|^test/' } } };
