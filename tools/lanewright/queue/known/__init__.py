"""Results of earlier builds."""
