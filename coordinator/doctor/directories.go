package doctor

const directoryGroup = "Directories"
