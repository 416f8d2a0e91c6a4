export async function loadSwagger() {
    try {
        return await import('@nestjs/swagger');
    }
    catch (error) {
        if (isNotInstalled(error))
            return null;
        throw error;
    }
}
function isNotInstalled({ code, message }) {
    const [whatIsMissing = ''] = message.split('\n', 1);
    return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && /@nestjs\/swagger(?![\w/-])/.test(whatIsMissing);
}
